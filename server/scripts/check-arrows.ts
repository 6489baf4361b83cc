/** Holds the imports of a source folder against the rules; prints what breaks them, and fails. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { RULES, type Rule } from './arrows.ts'

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^'"`;]*?from\s*'([^']+)'|(?:^|\n)\s*import\s*'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/g

/** File by file, what it imports: files of the tree by their path below it, packages by their name. */
export function readImports(folder: string): Map<string, string[]> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
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

/** One cycle, if there is any, as the files that it goes through. */
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

/** In words, every import that breaks a rule. */
export function brokenArrows(folder: string): string[] {
  const imports = readImports(folder)
  const broken = [...imports].flatMap(([from, names]) =>
    names.flatMap((to) =>
      RULES.filter((rule) => breaks(rule, from, to)).map(({ says }) => `${from} → ${to}\n    ${says}`),
    ),
  )
  const cycle = findCycle(imports)
  return cycle ? [...broken, `${cycle.join(' → ')}\n    no cycle between files`] : broken
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = fileURLToPath(new URL('../src', import.meta.url))
  const broken = brokenArrows(folder)
  for (const line of broken) process.stdout.write(`${line}\n`)
  const shown = relative(process.cwd(), folder)
  process.stdout.write(
    broken.length === 0 ? `${shown}: every arrow holds\n` : `${shown}: ${broken.length} broken\n`,
  )
  process.exit(broken.length === 0 ? 0 : 1)
}
