import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The build before the last migration: the upgrade in turn applies it while older processes run. */
export const OLD_COMMIT = 'e28ed62'

/** Command line of a build. */
export type Build = (args: readonly string[]) => string[]

const buildIn =
  (folder: string): Build =>
  (args) => [process.execPath, `${folder}/server/bin/jeton.js`, ...args]

export const currentBuild = buildIn(ROOT)

/** False in a shallow clone. */
export const hasCommit = (commit: string): boolean =>
  spawnSync('git', ['-C', ROOT, 'cat-file', '-e', `${commit}^{commit}`]).status === 0

/** Unpacks an older commit. It shares the installed packages with this checkout. */
export function unpackBuild(commit: string, folder: string): Build {
  mkdirSync(folder)
  execFileSync('sh', ['-c', `git -C "$1" archive "$2" server | tar -x -C "$3"`, 'sh', ROOT, commit, folder])
  symlinkSync(`${ROOT}node_modules`, `${folder}/node_modules`)
  symlinkSync(`${ROOT}server/node_modules`, `${folder}/server/node_modules`)
  return buildIn(folder)
}

/** Short name of the commit that is checked out. */
export const currentCommit = (): string =>
  execFileSync('git', ['-C', ROOT, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
