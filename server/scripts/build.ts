/**
 * Compiles the sources into `dist/` for a package, because Node refuses TypeScript below node_modules. The checkout needs no
 * build: `--clean` removes the output, so that the checkout runs from its sources again.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const server = fileURLToPath(new URL('..', import.meta.url))
/** Files of the checkout by their name in the package. */
const COPIED = { 'README.md': 'README.md', LICENSE: 'LICENSE', docs: 'docs', console: 'console/dist' }

for (const made of ['dist', ...Object.keys(COPIED)])
  rmSync(join(server, made), { recursive: true, force: true })
if (!process.argv.includes('--clean')) {
  const compiler = join(
    dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
    'bin',
    'tsc',
  )
  execFileSync(process.execPath, [compiler, '-p', join(server, 'tsconfig.build.json')], { stdio: 'inherit' })
  execFileSync(process.execPath, [join(server, '..', 'console/scripts/build.js')], { stdio: 'inherit' })
  for (const [name, path] of Object.entries(COPIED))
    cpSync(join(server, '..', path), join(server, name), { recursive: true })
}
