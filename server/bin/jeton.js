#!/usr/bin/env node
// Plain JavaScript that an old Node can run: it finds a Node that is new enough and hands over to it.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

const NEEDED = 24

const file = (path) => fileURLToPath(new URL(path, import.meta.url))
// Straight from the sources in the checkout; compiled in a package, which has no sources.
const program = existsSync(file('../src/main.ts')) ? file('../src/main.ts') : file('../dist/main.js')

/** The Node that npm has brought along: beside us in the checkout, or where the package is installed. */
function broughtAlong() {
  const bins = ['../node_modules/.bin/node', '../../node_modules/.bin/node', '../../.bin/node']
  return bins.map(file).find((path) => existsSync(path))
}

/**
 * How V8 keeps memory, which it only asks at its start. The young generation small: it stays in the processor's cache, and
 * 100 MB less are held; larger where all that is done is sending, so that sends end before they are taken for old. The old
 * one grows by half before it is looked through, and where all is on its way not below 128 MB. And no objects of a request among the old ones from the start: each would
 * keep everything else of its request alive until the next full collection.
 */
const memory = (youngMegabytes) => [
  `--min-semi-space-size=${youngMegabytes}`,
  `--max-semi-space-size=${youngMegabytes}`,
  '--heap-growing-percent=50',
  '--no-allocation-site-pretenuring',
]
/** What runs for long. */
const MEMORY = { serve: memory(8), worker: [...memory(32), '--initial-old-space-size=128'] }
const args = process.argv.slice(2)
const command = args.find((arg) => !arg.startsWith('-'))
const major = Number(process.versions.node.split('.')[0])

/**
 * Nobody's own choice is overruled. Only the Node that was measured: to another a flag may be unknown. Whoever has a channel
 * to us would lose it.
 */
function becomesItselfAgain() {
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ')
  const isDue = Object.hasOwn(MEMORY, command ?? '') && !given.includes('semi-space')
  return isDue && major === NEEDED && process.platform !== 'win32' && process.channel === undefined
}

if (major >= NEEDED) {
  if (becomesItselfAgain())
    process.execve(
      process.execPath,
      [process.execPath, ...MEMORY[command], ...process.execArgv, fileURLToPath(import.meta.url), ...args],
      process.env,
    )
  // Compiled code is kept between starts: sooner ready, and the type stripper is not even loaded. Threads read the variable.
  process.env.NODE_COMPILE_CACHE ||= module.enableCompileCache().directory ?? ''
  await import(pathToFileURL(program).href)
} else {
  const node = broughtAlong()
  if (!node) {
    process.stderr.write(
      `Jeton needs Node ${NEEDED} or newer; this is ${process.versions.node}. With npm: npx -p node@${NEEDED} npm start\n`,
    )
    process.exit(78)
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...args], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 128 : 1)))
}
