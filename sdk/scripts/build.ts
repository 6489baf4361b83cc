/**
 * Compiles the sources into `dist/` for the package. Comments are left out of the code and stay in the types, where editors
 * show them. `--clean` removes the output, so that nothing in the checkout imports it by mistake.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const sdk = fileURLToPath(new URL('..', import.meta.url))
const compiler = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin',
  'tsc',
)

function compile(...options: string[]): void {
  const project = join(sdk, 'tsconfig.build.json')
  execFileSync(process.execPath, [compiler, '-p', project, ...options], { stdio: 'inherit' })
}

for (const made of ['dist', 'LICENSE']) rmSync(join(sdk, made), { recursive: true, force: true })
if (!process.argv.includes('--clean')) {
  compile('--removeComments')
  compile('--declaration', '--emitDeclarationOnly')
  cpSync(join(sdk, '..', 'LICENSE'), join(sdk, 'LICENSE'))
}
