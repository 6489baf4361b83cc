import { cellOf, headingOf, type Reader, valueAt } from './cells.ts'
import { coloured, type Io, printLine } from './io.ts'
import type { Resource } from './pages.ts'

export const readerOf = (io: Io): Reader => ({ person: io.isTTY, now: io.now() })

const GAP = '   '

/** Columns in line, the last one as long as it is. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => [...(row[column] ?? '')].length)),
  )
  const padded = (cell: string, column: number) =>
    cell + ' '.repeat(Math.max(0, widths[column]! - [...cell].length))
  return rows.map((row) => row.map(padded).join(GAP).trimEnd())
}

/** What a receiver answered, say: a cell that is not the last must not push the others out of sight. */
const CELL_MOST = 80
const fitting = (row: readonly string[]): string[] =>
  row.map((cell, i) =>
    cell.length > CELL_MOST && i < row.length - 1 ? `${cell.slice(0, CELL_MOST)}…` : cell,
  )

/** A table for people; for programs tabs and no heading, so that `cut` and `while read` just work. */
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

/** One resource: a line for each of its fields. */
export function printFields(io: Io, fields: Resource): void {
  const reader = readerOf(io)
  const rows = Object.entries(fields).map(([name, value]) => [name, cellOf(name, value, reader)])
  const lines = io.isTTY ? aligned(rows) : rows.map((row) => row.join('\t'))
  for (const line of lines) printLine(io, line)
}
