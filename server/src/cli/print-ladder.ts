import { coloured, type Io, printLine } from './io.ts'
import { TERMINAL_COLUMNS, wrapped } from './wrapped.ts'

/** How a step of a ladder is shown: passed or failed. */
export const mark = (io: Io, passed: boolean): string =>
  passed ? coloured(io, 'green', '✓') : coloured(io, 'red', '✗')

interface Check {
  readonly passed: boolean
  readonly says: string
}

/** Each step, and what would mend the one that failed. */
export function printLadder(io: Io, steps: readonly Check[], remedy: string | null): void {
  for (const { passed, says } of steps) printHanging(io, `  ${mark(io, passed)} `, says)
  if (remedy) printHanging(io, '  → ', remedy)
}

/** `  ✓ `, whatever colours are in it. */
const MARGIN = 4

/** People get lines that fit, in line with the first; programs the whole as one. */
function printHanging(io: Io, margin: string, text: string): void {
  const [first, ...rest] = io.isTTY ? wrapped(text, TERMINAL_COLUMNS - MARGIN) : [text]
  printLine(io, margin + first)
  for (const line of rest) printLine(io, ' '.repeat(MARGIN) + line)
}
