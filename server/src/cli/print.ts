import { cellOf, headingOf, type Reader, TERMINAL_COLUMNS, valueAt, wrapped } from './format.ts'
import { asStarted, coloured, type Io, printLine } from './io.ts'
import type { Resource } from './resolve.ts'

export const readerOf = (io: Io): Reader => ({ person: io.isTTY, now: io.now() })

const GAP = '   '

/** Aligns columns; the last one is not padded. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => [...(row[column] ?? '')].length)),
  )
  const padded = (cell: string, column: number) =>
    cell + ' '.repeat(Math.max(0, widths[column]! - [...cell].length))
  return rows.map((row) => row.map(padded).join(GAP).trimEnd())
}

/** Long cells, such as the response of a receiver, are cut unless they are in the last column. */
const MAX_CELL = 80
const fitting = (row: readonly string[]): string[] =>
  row.map((cell, i) => (cell.length > MAX_CELL && i < row.length - 1 ? `${cell.slice(0, MAX_CELL)}…` : cell))

/** A table for people. Programs get tabs and no heading, for `cut` and `while read`. */
export function printTable(io: Io, columns: readonly string[], rows: readonly Resource[]): void {
  const reader = readerOf(io)
  const cells = rows.map((row) => columns.map((name) => cellOf(name, valueAt(row, name), reader, true)))
  if (!io.isTTY) {
    for (const row of cells) printLine(io, row.join('\t'))
    return
  }
  const [heading = '', ...lines] = aligned([columns.map(headingOf), ...cells.map(fitting)])
  printLine(io, coloured(io, 'dim', heading))
  for (const line of lines) printLine(io, line)
}

/** One line per field of a resource. */
export function printFields(io: Io, fields: Resource): void {
  const reader = readerOf(io)
  const rows = Object.entries(fields).map(([name, value]) => [name, cellOf(name, value, reader)])
  const lines = io.isTTY ? aligned(rows) : rows.map((row) => row.join('\t'))
  for (const line of lines) printLine(io, line)
}

/** ✓ or ✗. */
export const mark = (io: Io, passed: boolean): string =>
  passed ? coloured(io, 'green', '✓') : coloured(io, 'red', '✗')

interface Step {
  readonly passed: boolean
  readonly says: string
}

/** Prints each step of a check, and how to fix the one that failed. */
export function printSteps(io: Io, steps: readonly Step[], remedy: string | null): void {
  for (const { passed, says } of steps) printHanging(io, `  ${mark(io, passed)} `, says)
  if (remedy) printHanging(io, '  → ', asStarted(io, remedy))
}

/** Width of `  ✓ ` without colours. */
const MARGIN = 4

/** Wraps and indents for people; one line for programs. */
function printHanging(io: Io, margin: string, text: string): void {
  const [first, ...rest] = io.isTTY ? wrapped(text, TERMINAL_COLUMNS - MARGIN) : [text]
  printLine(io, margin + first)
  for (const line of rest) printLine(io, ' '.repeat(MARGIN) + line)
}
