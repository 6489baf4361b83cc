import { type Static, Type } from 'typebox'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import {
  type App,
  filterField,
  forOperators,
  IdParam,
  isoTime,
  moment,
  NullableInteger,
  NullableText,
  strict,
  timeOf,
} from '../../platform/http/index.ts'
import { requireProject } from '../projects/index.ts'
import { defaultStep, queryUsage, type UsageStep } from './query-usage.ts'
import { DAY_MS, USAGE_DIMENSIONS, USAGE_METRICS, type UsageDimension, type UsageMetric } from './usage.ts'

const oneOf = <T extends string>(values: readonly T[], description: string, rest: object = {}) =>
  Type.Unsafe<T>({ type: 'string', enum: values, description, ...rest })

/** Metrics that can be added up over projects. */
const COUNTS = USAGE_METRICS.filter((metric) => metric !== 'active_tokens' && metric !== 'delivery_latency')

const STEPS: readonly UsageStep[] = ['minute', 'hour', 'day']

const Range = {
  from: Type.Optional(moment('Earliest time. Default: one day before `to`.')),
  to: Type.Optional(moment('Latest time, not included. Default: now.')),
  step: Type.Optional(
    oneOf(
      STEPS,
      'Length of a step. Minutes are kept for 48 hours, hours for 90 days. Default: by the length of the range.',
    ),
  ),
}

const ProjectQuery = {
  metric: oneOf<UsageMetric>(USAGE_METRICS, 'Metric to return.', { examples: ['calls'] }),
  by: Type.Optional(oneOf<UsageDimension>(USAGE_DIMENSIONS, 'How the counts are split. Default: `none`.')),
  only: filterField('One key, reason or destination of the split.'),
  ...Range,
}

const Usage = Type.Object({
  object: Type.Literal('usage'),
  metric: Type.String({ description: 'Metric of the points.' }),
  by: Type.String({ description: 'How the counts are split.' }),
  step: Type.String({ description: 'Length of a step.' }),
  from: Type.String({ description: 'Start of the range; the first step may begin before it.' }),
  to: Type.String({ description: 'End of the range.' }),
  series: Type.Array(
    Type.Object({
      key: Type.Unsafe<string | null>({
        ...NullableText,
        description:
          'Id of the key or destination, or the reason; `other` for all that are not among the largest 20; null for the whole project.',
      }),
      total: Type.Unsafe<number | null>({
        ...NullableInteger,
        description: 'Sum of the points; null for levels and latencies.',
      }),
      points: Type.Array(
        Type.Unsafe<readonly [number, number | null]>({ type: 'array', items: { type: ['number', 'null'] } }),
        {
          description:
            'Pairs of unix time in seconds and count. A step without a count is 0; without a sample it is null.',
        },
      ),
    }),
    { description: 'One series per key, reason or destination, the largest first; one series with `none`.' },
  ),
  total: Type.Unsafe<number | null>({
    ...NullableInteger,
    description: 'Sum of all series; null for levels and latencies.',
  }),
})

interface Deps {
  readonly db: Database
  readonly clock: Clock
  /** Adds what this process has counted, so that the answer includes it. */
  readonly writeUsage: () => Promise<void>
}

type Query = {
  metric: UsageMetric
  by?: UsageDimension
  only?: string
  from?: string
  to?: string
  step?: UsageStep
}

export function usageRoutes(app: App, { db, clock, writeUsage }: Deps): void {
  const tags = ['usage']

  async function answer(projectId: string | undefined, { metric, by = 'none', ...query }: Query) {
    const now = clock.now()
    const to = query.to === undefined ? now : timeOf(query.to, 'to')
    const from = query.from === undefined ? to - DAY_MS : timeOf(query.from, 'from')
    const step = query.step ?? defaultStep(from, to, now)
    await writeUsage().catch(() => undefined)
    const found = await queryUsage(db, { projectId, metric, by, only: query.only, step, from, to })
    return {
      object: 'usage' as const,
      metric,
      by,
      step,
      from: isoTime(from),
      to: isoTime(to),
      ...found,
    } as Static<typeof Usage>
  }

  app.get(
    '/management/v1/projects/:project_id/usage',
    {
      config: forOperators('viewer'),
      schema: {
        tags,
        operationId: 'usage.show',
        summary: 'Usage of a project over time',
        description:
          'Each process adds its counts every 10 seconds; a process that is killed loses what it had not added.',
        params: Type.Object({ project_id: IdParam }),
        querystring: strict(ProjectQuery),
        response: { 200: Usage },
      },
    },
    async (request) => answer((await requireProject(db, request.params.project_id)).id, request.query),
  )

  app.get(
    '/management/v1/usage',
    {
      config: forOperators('viewer', 'all'),
      schema: {
        tags,
        operationId: 'usage.service',
        summary: 'Usage of the whole service over time',
        description:
          'Counts of all projects together. Without `metric`: the requests that were refused before their project was known, by reason.',
        querystring: strict({ metric: Type.Optional(oneOf(COUNTS, 'Metric to return.')), ...Range }),
        response: { 200: Usage },
      },
    },
    async ({ query: { metric, ...range } }) =>
      metric === undefined
        ? answer('', { metric: 'refusals', by: 'reason', ...range })
        : answer(undefined, { metric, ...range }),
  )
}
