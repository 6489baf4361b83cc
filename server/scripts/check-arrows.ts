/** Checks the imports of a source folder against the rules, and fails with a list of violations. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CONSOLE_RULES, RULES, type Rule } from './arrows.ts'

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^'"`;]*?from\s*'([^']+)'|(?:^|\n)\s*import\s*'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/g

/** Imports of each file: source files by their path, packages by their name. */
export function readImports(folder: string): Map<string, string[]> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.tsx?$/.test(file) && !file.endsWith('.test.ts'),
  )
  return new Map(
    files.map((file) => {
      const text = readFileSync(join(folder, file), 'utf8')
      const names = [...text.matchAll(IMPORT)].map((match) => match[1] ?? match[2] ?? match[3]!)
      const here = file.replaceAll('\\', '/')
      return [
        here,
        names.map((name) => (name.startsWith('.') ? posix.join(posix.dirname(here), name) : name)),
      ]
    }),
  )
}

function breaks(rule: Rule, from: string, to: string): boolean {
  const match = rule.from.exec(from)
  if (!match || !rule.to.test(to)) return false
  return !(rule.except ?? []).some((pattern) => new RegExp(pattern.replaceAll('$1', match[1] ?? '')).test(to))
}

/** Finds a cycle of imports, as a list of files. */
function findCycle(imports: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>()
  function walk(file: string, path: readonly string[]): string[] | undefined {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return undefined
    for (const next of imports.get(file) ?? []) {
      const cycle = imports.has(next) ? walk(next, [...path, file]) : undefined
      if (cycle) return cycle
    }
    done.add(file)
    return undefined
  }
  for (const file of imports.keys()) {
    const cycle = walk(file, [])
    if (cycle) return cycle
  }
  return undefined
}

/** Describes every import that violates a rule. */
export function brokenArrows(folder: string, rules: readonly Rule[] = RULES): string[] {
  const imports = readImports(folder)
  const broken = [...imports].flatMap(([from, names]) =>
    names.flatMap((to) =>
      rules.filter((rule) => breaks(rule, from, to)).map(({ says }) => `${from} → ${to}\n    ${says}`),
    ),
  )
  const cycle = findCycle(imports)
  return cycle ? [...broken, `${cycle.join(' → ')}\n    cycles are not allowed`] : broken
}

function report(path: string, rules: readonly Rule[]): boolean {
  const folder = fileURLToPath(new URL(`../../${path}`, import.meta.url))
  const broken = brokenArrows(folder, rules)
  for (const line of broken) process.stdout.write(`${line}\n`)
  const verdict = broken.length === 0 ? 'all imports are allowed' : `${broken.length} forbidden imports`
  process.stdout.write(`${path}: ${verdict}\n`)
  return broken.length === 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const verdicts = [report('server/src', RULES), report('console/src', CONSOLE_RULES)]
  process.exit(verdicts.every(Boolean) ? 0 : 1)
}
