import { appendFileSync, existsSync, readFileSync } from 'node:fs'

/** A row of the table that a run with faults prints at its end. */
export interface Row {
  readonly fault: string
  readonly engine: string
  readonly times: number
  readonly tokens: number
  readonly redemptions: number
  readonly events: number
  readonly kills: number
  readonly lost: number
  /** Longest time from the end of the fault to the first acknowledged write. */
  readonly backAfterMs: number | null
}

const FILE = process.env.FAULTS_REPORT

/** Appends a row to the report file. Tests run in several processes, so they share a file. */
export function report(kind: 'fault' | 'fuzz', row: object): void {
  if (FILE) appendFileSync(FILE, `${JSON.stringify({ kind, ...row })}\n`)
}

export const readReport = (file: string): (Record<string, unknown> & { kind: string })[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : []
