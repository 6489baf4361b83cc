import { Type } from 'typebox'
import type { Clock } from '../../platform/clock.ts'
import {
  type App,
  clientGone,
  filterField,
  forOperators,
  IdParam,
  isoTimeOrNull,
  moment,
  strict,
  timeOf,
} from '../../platform/http/index.ts'
import { failureFields, Recovery } from './delivery.schemas.ts'
import { RECOVERABLE, type Recoverable } from './delivery-status.ts'
import { searchPeriod } from './list-deliveries.ts'
import { recoverDeliveries } from './recover-deliveries.ts'
import type { RecoveryPosition } from './recovery-candidates.ts'
import type { RecordDeps } from './retry-delivery.ts'

const MAX_IDS = 500
const MAX_LIMIT = 100_000

/** State, destination, time and id of the last delivery. */
const CURSOR = /^(failing|exhausted)\.([\w-]{1,80})\.(\d{1,15})\.([\w-]{1,80})$/

function decodeCursor(text: string): RecoveryPosition {
  const [, state, destinationId, at, id] = CURSOR.exec(text)!
  return { state: state as Recoverable, destinationId: destinationId!, created_at: Number(at), id: id! }
}

const encodeCursor = ({ state, destinationId, created_at, id }: RecoveryPosition): string =>
  [state, destinationId, created_at, id].join('.')

/** Without one of these, a call without a thought would send everything that ever failed. */
const FILTERS = ['since', 'destination', 'event', 'http_status', 'error', 'from'] as const

const WHICH = {
  'x-says': `must name ids, or at least one of ${FILTERS.join(', ')}, and not both`,
  'x-key': 'missing_parameters',
} as const

const Body = strict(
  {
    since: Type.Optional(moment('Deliveries whose last attempt failed at this time or later.')),
    ids: Type.Optional(
      Type.Array(IdParam, {
        minItems: 1,
        maxItems: MAX_IDS,
        uniqueItems: true,
        description: 'Ids of the deliveries, instead of filters.',
      }),
    ),
    destination: filterField('Id of a webhook or distribution, to recover only its deliveries.'),
    event: filterField('Id of an event, to recover only its deliveries.'),
    ...failureFields,
    from: Type.Optional(moment('Deliveries created at this time or later.')),
    to: Type.Optional(moment('Deliveries created before this time.')),
    include: Type.Optional(
      Type.Array(Type.Unsafe<Recoverable>({ type: 'string', enum: RECOVERABLE }), {
        minItems: 1,
        uniqueItems: true,
        description:
          'Which of them: `exhausted`, `failing`, or both. Default: `exhausted`, and both with `ids`. Failing ones are due again by their schedule anyway.',
      }),
    ),
    dry_run: Type.Optional(Type.Boolean({ description: 'Only count them and show some.' })),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_LIMIT,
        description: 'Stop once this number is due, or a few hundred more. Default: no limit.',
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        pattern: CURSOR.source,
        'x-says': 'is invalid: send next_cursor of the previous response unchanged',
        description: '`next_cursor` of the previous response, with the same filters.',
      }),
    ),
  },
  {
    oneOf: [{ required: ['ids'] }, { anyOf: FILTERS.map((name) => ({ required: [name] })), ...WHICH }],
    ...WHICH,
  },
)

/** Fields that the command line shows, in this order. */
const SHOWN = [
  ...['since', 'destination', 'include', 'dry_run', 'reopened', 'held', 'failing_left_out', 'skipped'],
  'sample',
]

export function recoveryRoutes(app: App, deps: RecordDeps & { readonly clock: Clock }): void {
  app.post(
    '/management/v1/projects/:project_id/deliveries/recover',
    {
      config: forOperators('editor'),
      schema: {
        tags: ['deliveries'],
        operationId: 'delivery.recover',
        summary: 'Send failed deliveries again',
        description:
          'Makes deliveries due now that failed: those that `ids` names, or those that match all filters. By default only those that are `exhausted`; with `include` also those that are failing and wait for their next attempt. Deliveries that are `held` are sent by enabling their destination. It works in small transactions; if the client disconnects, it stops after the current one, and the same call continues.',
        params: Type.Object({ project_id: IdParam }),
        body: Body,
        response: { 200: Recovery },
        'x-columns': SHOWN,
      },
    },
    async ({ params, body, actor }, reply) => {
      const { ids, destination, event, error, dry_run: dryRun = false } = body
      const include = body.include ?? (ids ? RECOVERABLE : ['exhausted' as const])
      const since = momentOf(body.since, 'since')
      const asked = { from: momentOf(body.from, 'from'), to: momentOf(body.to, 'to') }
      const period = error === undefined ? asked : searchPeriod(asked, deps.clock.now())
      const failure = { httpStatus: body.http_status, error }
      const named = { projectId: params.project_id, ids, destination, event }
      const after = body.cursor === undefined ? undefined : decodeCursor(body.cursor)
      const recovery = {
        ...named,
        ...period,
        since,
        failure,
        include,
        dryRun,
        limit: body.limit,
        after,
        actor,
        signal: clientGone(reply),
      }
      const { next, ...outcome } = await recoverDeliveries(deps, recovery)
      return {
        object: 'recovery' as const,
        since: isoTimeOrNull(since ?? null),
        destination: destination ?? null,
        include: [...include],
        dry_run: dryRun,
        ...outcome,
        next_cursor: next && encodeCursor(next),
      }
    },
  )
}

const momentOf = (text: string | undefined, name: string): number | undefined =>
  text === undefined ? undefined : timeOf(text, name)
