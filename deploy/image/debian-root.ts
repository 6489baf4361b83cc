import { execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const RELEASE = 'bookworm'
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The environment of a container: its files, the folder, the variables and the user. */
export interface Container {
  readonly root: string
  folder: string
  user: string
  readonly env: Record<string, string>
}

/** Makes a Debian with Node and npm, as in the image node:24-slim: the same paths, and the user `node` with the id 1000. */
export function makeBase(root: string): void {
  execFileSync('debootstrap', ['--variant=minbase', RELEASE, root], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const local = join(root, 'usr/local')
  cpSync(join(ROOT, 'node_modules', `node-linux-${process.arch}`, 'bin/node'), join(local, 'bin/node'))
  // npm runs this trial, and is copied as it is.
  const npm = dirname(dirname(process.env.npm_execpath!))
  cpSync(npm, join(local, 'lib/node_modules/npm'), { recursive: true, dereference: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'))
  execFileSync('chroot', [root, 'useradd', '--uid', '1000', '--create-home', 'node'])
  // Private certificate authorities of the network that this runs in.
  const authorities = process.env.NODE_EXTRA_CA_CERTS
  if (authorities && existsSync(authorities)) {
    mkdirSync(dirname(join(root, authorities)), { recursive: true })
    cpSync(authorities, join(root, authorities), { dereference: true })
  }
  for (const file of ['/etc/resolv.conf', '/etc/hosts']) cpSync(file, join(root, file), { dereference: true })
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

/** Starts a program inside, with nothing of the outside but the network and its certificates. */
export function start(
  { root, folder, user, env }: Container,
  command: readonly string[],
  options: SpawnOptions & { readonly settings?: Readonly<Record<string, string>> } = {},
) {
  const { settings = {}, ...rest } = options
  const { NODE_EXTRA_CA_CERTS: authorities } = process.env
  const variables = { ...(authorities && { NODE_EXTRA_CA_CERTS: authorities }), ...env, ...settings }
  const words = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
  const inFolder = `cd ${quoted(folder)} && exec "$@"`
  const inside = ['/usr/bin/env', '-i', ...words, '/bin/sh', '-c', inFolder, 'sh', ...command]
  return spawn('chroot', [`--userspec=${user}`, root, ...inside], rest)
}

/** Runs a program inside and returns its exit code. */
export const run = (container: Container, command: readonly string[], settings = {}): Promise<number> =>
  new Promise((resolve) =>
    start(container, command, { stdio: 'inherit', settings }).once('exit', (code) => resolve(code ?? -1)),
  )
