/**
 * Prints the software bill of materials (CycloneDX) of the server and its production dependencies, from the lock file:
 *
 *   npm run --silent sbom > jeton.cdx.json
 *
 * `npm sbom --omit=dev` leaves most dependencies of a workspace out. So npm reads a copy without what developers install.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface LockEntry {
  readonly dev?: boolean
  readonly resolved?: string
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const readJson = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'))
const server = readJson('server/package.json')
const lock = readJson('package-lock.json')

/** The workspace with the server alone. */
const workspace = { name: 'jeton-workspace', version: server.version, workspaces: ['server'] }
const isKept = ([path, { dev, resolved }]: [string, LockEntry]): boolean =>
  !dev &&
  (path === 'server' || resolved === 'server' || /^(server\/)?node_modules\/(?!@jeton\/|jeton)/.test(path))
const packages = {
  '': workspace,
  ...Object.fromEntries(Object.entries<LockEntry>(lock.packages).filter(isKept)),
}

const folder = mkdtempSync(join(tmpdir(), 'jeton-sbom-'))
try {
  // npm takes the name of the folder for the name of the root.
  const cwd = join(folder, workspace.name)
  mkdirSync(join(cwd, 'server'), { recursive: true })
  writeFileSync(join(cwd, 'server/package.json'), JSON.stringify(server))
  writeFileSync(join(cwd, 'package.json'), JSON.stringify(workspace))
  writeFileSync(join(cwd, 'package-lock.json'), JSON.stringify({ ...lock, ...workspace, packages }))
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only']
  const options = { cwd, encoding: 'utf8', maxBuffer: 2 ** 28 } as const
  process.stdout.write(execFileSync('npm', [...args, '--loglevel=error'], options))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
