import { LONG, SEED } from './run-settings.ts'

type Rows = readonly Record<string, unknown>[]

/** Header and cell text of each column. */
type Columns = readonly (readonly [string, (row: Record<string, unknown>) => unknown])[]

const FAULTS: Columns = [
  ['fault', ({ fault }) => fault],
  ['store', ({ engine }) => engine],
  ['times', ({ times }) => times],
  ['tokens', ({ tokens }) => tokens],
  ['redemptions', ({ redemptions }) => redemptions],
  ['events', ({ events }) => events],
  ['kills', ({ kills }) => kills],
  ['back after', ({ backAfterMs }) => (typeof backAfterMs === 'number' ? `${backAfterMs} ms` : '–')],
  ['lost', ({ lost }) => lost],
]

const FUZZ: Columns = [
  ['hostile input', ({ what }) => what],
  ['store', ({ engine }) => engine],
  ['requests', ({ requests }) => requests],
  ['answered', ({ answers }) => answers],
  ['slowest', ({ slowestMs }) => `${slowestMs} ms`],
  ['memory', ({ memory }) => memory],
  ['granted', ({ found }) => found],
]

function lines(rows: Rows, columns: Columns): string[] {
  const cells = [
    columns.map(([name]) => name),
    ...rows.map((row) => columns.map(([, value]) => String(value(row) ?? '–'))),
  ]
  const widths = columns.map((_, i) => Math.max(...cells.map((line) => line[i]!.length)))
  return cells.map((line) =>
    line
      .map((cell, i) => (i < 2 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join('   ')
      .trimEnd(),
  )
}

/** Prints how much was acknowledged and lost under each fault, and how the service answered hostile input. */
export function printTable(rows: Rows): void {
  const sorted = rows.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))
  const faults = sorted.filter(({ kind }) => kind === 'fault')
  const fuzz = sorted.filter(({ kind }) => kind === 'fuzz')
  const text = [
    '',
    `Faults and hostile input, ${LONG ? 'long' : 'short'} form, seed ${SEED}`,
    '',
    ...(faults.length > 0 ? [...lines(faults, FAULTS), ''] : []),
    ...(fuzz.length > 0 ? [...lines(fuzz, FUZZ), ''] : []),
  ]
  process.stdout.write(`${text.join('\n')}\n`)
}
