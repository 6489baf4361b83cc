import type { AnswerOf } from '../../api/query.ts'
import { useApi } from '../../api/query.ts'
import { plural } from '../../components/number-text.ts'
import type { StripCell } from '../../components/strip.tsx'
import { clockTime } from '../../components/time-text.ts'

type Usage = AnswerOf<'/projects/{project_id}/usage'>
type Metric = 'deliveries' | 'failed_deliveries' | 'delivery_latency'

const POLL_MS = 30_000

/** Usage of the last 24 hours by destination and hour. */
export const useHours = (projectId: string, metric: Metric) =>
  useApi(
    '/projects/{project_id}/usage',
    { path: { project_id: projectId }, query: { metric, by: 'destination', step: 'hour' } },
    { pollMs: POLL_MS },
  ).data

export interface HourOfAttempts {
  /** Unix seconds. */
  readonly at: number
  readonly delivered: number
  readonly failed: number
}

/** Attempts per hour of one destination; empty while the usage is loading. */
export function hoursOf(
  id: string,
  attempts: Usage | undefined,
  failures: Usage | undefined,
): HourOfAttempts[] {
  if (!attempts || !failures) return []
  const own = (usage: Usage) => usage.series.find(({ key }) => key === id)?.points ?? []
  const failed = new Map(own(failures).map(([at, count]) => [at, count ?? 0]))
  return own(attempts).map(([at, count]) => {
    const bad = Math.min(count ?? 0, failed.get(at) ?? 0)
    return { at: at ?? 0, delivered: (count ?? 0) - bad, failed: bad }
  })
}

function toneOf({ delivered, failed }: HourOfAttempts): StripCell['tone'] {
  if (delivered + failed === 0) return 'none'
  if (failed === 0) return 'ok'
  return delivered === 0 ? 'bad' : 'warn'
}

export const cellsOf = (hours: readonly HourOfAttempts[]): StripCell[] =>
  hours.map((hour) => ({
    tone: toneOf(hour),
    label: `${clockTime(hour.at * 1000)}: ${hour.delivered} delivered, ${plural(hour.failed, 'failed attempt')}`,
  }))

export function stripLabel(hours: readonly HourOfAttempts[]): string {
  const sum = (pick: (hour: HourOfAttempts) => number) => hours.reduce((total, hour) => total + pick(hour), 0)
  return `Last 24 hours: ${sum(({ delivered }) => delivered)} delivered, ${sum(({ failed }) => failed)} failed`
}
