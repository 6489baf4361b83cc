import { isMeasured, type Outcome } from './measure/load-subject.ts'

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

export const shownCount = (value: number): string => whole.format(value)
export const shownMs = (ms: number): string => `${ms.toFixed(ms < 10 ? 2 : 1)} ms`
export const shownMb = (bytes: number): string => `${Math.round(bytes / 1_000_000)} MB`
export const shownRatio = (ratio: number | undefined): string => ratio?.toFixed(2) ?? '-'

export function shownSeconds(seconds: number): string {
  const rounded = Math.round(seconds)
  return rounded < 90 ? `${rounded} s` : `${Math.floor(rounded / 60)} min ${rounded % 60} s`
}

export function shownOutcome(outcome: Outcome | undefined): string {
  if (outcome === undefined) return '-'
  return isMeasured(outcome)
    ? `${shownCount(outcome.perSecond)}/s (p99 ${shownMs(outcome.p99Ms)})`
    : `no result: ${outcome.noResult}`
}

export const shownRate = (outcome: Outcome | undefined): string =>
  isMeasured(outcome) ? shownCount(outcome.perSecond) : outcome ? 'no result' : '-'
export const shownCost = (outcome: Outcome | undefined): string =>
  isMeasured(outcome) ? `${outcome.mainMicros.toFixed(1)} / ${outcome.cpuMicros.toFixed(1)} µs` : '-'
export const shownP50 = (outcome: Outcome | undefined): string =>
  isMeasured(outcome) ? shownMs(outcome.p50Ms) : '-'
export const shownP99 = (outcome: Outcome | undefined): string =>
  isMeasured(outcome) ? shownMs(outcome.p99Ms) : '-'

/** Columns as wide as they must be; the first to the left, the others to the right. */
export function shownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]!.length)))
  const line = (cells: readonly string[]) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ')
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n')
}
