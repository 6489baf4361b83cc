#!/usr/bin/env node
// Plain JavaScript that an old Node can run: it finds a Node that is new enough and hands over to it.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'

const NEEDED = 24

const file = (path) => fileURLToPath(new URL(path, import.meta.url))
// Straight from the sources in the checkout; compiled in a package, which has no sources.
const program = existsSync(file('../src/main.ts')) ? file('../src/main.ts') : file('../dist/main.js')

/** The Node that npm has brought along: beside us in the checkout, or where the package is installed. */
function broughtAlong() {
  const bins = ['../node_modules/.bin/node', '../../node_modules/.bin/node', '../../.bin/node']
  return bins.map(file).find((path) => existsSync(path))
}

if (Number(process.versions.node.split('.')[0]) >= NEEDED) {
  // Compiled code is kept between starts: sooner ready, and the type stripper is not even loaded. Threads read the variable.
  process.env.NODE_COMPILE_CACHE ||= module.enableCompileCache().directory ?? ''
  // V8 would put objects that often outlive a collection among the old ones at once; for the objects of a request that is
  // wrong, and each keeps everything else of its request alive until the next full collection.
  setFlagsFromString('--no-allocation-site-pretenuring')
  await import(pathToFileURL(program).href)
} else {
  const node = broughtAlong()
  if (!node) {
    process.stderr.write(
      `Jeton needs Node ${NEEDED} or newer; this is ${process.versions.node}. With npm: npx -p node@${NEEDED} npm start\n`,
    )
    process.exit(78)
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 128 : 1)))
}
