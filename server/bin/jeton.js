#!/usr/bin/env node
// Plain JavaScript for old Node versions: finds a Node that is new enough and starts the program with it.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

const MIN_NODE_MAJOR = 24

const file = (path) => fileURLToPath(new URL(path, import.meta.url))
// The sources in a checkout, the compiled files in a package.
const program = existsSync(file('../src/main.ts')) ? file('../src/main.ts') : file('../dist/main.js')

/** Path of the Node that npm installed: next to us in a checkout, or where the package is installed. */
function bundledNode() {
  const bins = ['../node_modules/.bin/node', '../../node_modules/.bin/node', '../../.bin/node']
  return bins.map(file).find((path) => existsSync(path))
}

/**
 * V8 memory flags, which V8 reads only at its start. A small young generation stays in the processor cache and saves 100 MB.
 * It is larger for the worker, so that sends end before their objects are promoted. The old generation grows by half before
 * it is collected, for the worker not below 128 MB. Objects are not allocated in the old generation from the start: each
 * would keep the rest of its request alive until the next full collection.
 */
const memory = (youngMegabytes) => [
  `--min-semi-space-size=${youngMegabytes}`,
  `--max-semi-space-size=${youngMegabytes}`,
  '--heap-growing-percent=50',
  '--no-allocation-site-pretenuring',
]
/** Commands that run for long. */
const MEMORY = { serve: memory(8), worker: [...memory(32), '--initial-old-space-size=128'] }
const args = process.argv.slice(2)
const command = args.find((arg) => !arg.startsWith('-'))
const major = Number(process.versions.node.split('.')[0])

/**
 * True if the program should restart itself with the flags above: not if the user has set flags, not with another Node
 * version, which may not know them, and not with an IPC channel, which would be lost.
 */
function shouldRestartWithFlags() {
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ')
  const isDue = Object.hasOwn(MEMORY, command ?? '') && !given.includes('semi-space')
  return isDue && major === MIN_NODE_MAJOR && process.platform !== 'win32' && process.channel === undefined
}

if (major >= MIN_NODE_MAJOR) {
  if (shouldRestartWithFlags())
    process.execve(
      process.execPath,
      [process.execPath, ...MEMORY[command], ...process.execArgv, fileURLToPath(import.meta.url), ...args],
      process.env,
    )
  // Caches compiled code between starts: faster, and the type stripper is not loaded. Threads read the variable.
  process.env.NODE_COMPILE_CACHE ||= module.enableCompileCache().directory ?? ''
  await import(pathToFileURL(program).href)
} else {
  const node = bundledNode()
  if (!node) {
    process.stderr.write(
      `Jeton needs Node ${MIN_NODE_MAJOR} or newer; this is ${process.versions.node}. With npm: npx -p node@${MIN_NODE_MAJOR} npm start\n`,
    )
    process.exit(78)
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...args], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 128 : 1)))
}
