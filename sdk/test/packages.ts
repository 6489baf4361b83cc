import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Used by examples and by tests of types. */
export const FRAMEWORKS = [
  'express',
  'fastify',
  'hono',
  '@hono/node-server',
  '@types/node',
  '@types/express',
  'typescript',
]

/** Packs a workspace. One command builds it, packs it and cleans up. */
export function pack(workspace: string, folder: string): string {
  const args = ['pack', '-w', workspace, '--pack-destination', folder, '--json']
  const [{ filename }] = JSON.parse(execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }))
  return join(folder, filename)
}

/** Installs packages as a user does. A test talks to no registry, and the SDK has no dependencies. */
export function install(folder: string, ...tarballs: string[]): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"name":"outside","private":true,"type":"module"}')
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs], {
    cwd: folder,
    stdio: 'pipe',
  })
}

/** Links a package of the checkout, with its own dependencies beside it. */
export function link(folder: string, name: string): void {
  const path = join(folder, 'node_modules', name)
  const places = ['server', 'sdk', '.'].map((one) => join(ROOT, one, 'node_modules', name))
  const found = places.find((place) => existsSync(place))
  if (!found) throw new Error(`${name} is not installed`)
  mkdirSync(dirname(path), { recursive: true })
  if (!existsSync(path)) symlinkSync(found, path)
}

/** Unpacks the server beside the SDK, with the dependencies of the checkout. */
export function addServer(folder: string, tarball: string): void {
  const path = join(folder, 'node_modules', 'jeton')
  mkdirSync(path, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '-C', path, '--strip-components=1'])
  const { dependencies } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) link(folder, name)
}
