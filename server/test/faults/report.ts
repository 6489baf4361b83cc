import { appendFileSync, existsSync, readFileSync } from 'node:fs'

/** A line of the table that `npm run test:faults` prints at its end. */
export interface Row {
  readonly fault: string
  readonly engine: string
  readonly times: number
  readonly tokens: number
  readonly redemptions: number
  readonly events: number
  readonly kills: number
  readonly lost: number
  /** Longest time from the end of the fault to the first write that was acknowledged. */
  readonly backAfterMs: number | null
}

const FILE = process.env.FAULTS_REPORT

/** Tests run in several processes: what they have to say is gathered in a file. */
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
