import { Type } from 'typebox'
import type { Database } from '../../platform/database/index.ts'
import {
  type App,
  forOperators,
  listAnswer,
  listOf,
  NullableInteger,
  PageQuery,
  pageOf,
  strict,
} from '../../platform/http/index.ts'
import { listProcesses } from './process.store.ts'
import { LISTED_FOR_MS, type ProcessRole, processView } from './process.ts'

const NullableNumber = (description: string) =>
  Type.Unsafe<number | null>({ type: ['number', 'null'], description })

const Process = Type.Object({
  id: Type.String(),
  object: Type.Literal('process'),
  host: Type.String({ description: 'Name of its machine or container.' }),
  pid: Type.Integer({ description: 'Its process id on that machine.' }),
  version: Type.String({ description: 'Version of Jeton that it runs.' }),
  role: Type.Unsafe<ProcessRole>({
    type: 'string',
    enum: ['http', 'worker', 'both'],
    description: '`http` answers requests, `worker` delivers events, `both` does both.',
  }),
  started_at: Type.String({ description: 'When it started.' }),
  seen_at: Type.String({ description: 'Its last heartbeat, by the clock of the store.' }),
  key_state_age_ms: Type.Unsafe<number | null>({
    ...NullableInteger,
    description:
      'Milliseconds since it last confirmed the state of keys, as far as the store knows; null for workers. After 30 s without a confirmation it returns 503.',
  }),
  cached_tokens: Type.Unsafe<number | null>({
    ...NullableInteger,
    description: 'Tokens in its cache; null for workers.',
  }),
  cache_hit_rate: NullableNumber(
    'Share of token look-ups that its cache answered since it started, 0 to 1; null before the first.',
  ),
  event_loop_delay_p99_ms: NullableNumber(
    'Delay of its event loop, 99th percentile of the last 10 to 20 s; null before the first measurement.',
  ),
  rss_bytes: Type.Integer({ description: 'Resident memory.' }),
})

/** Columns that fit into a terminal; `--json` has all. */
const COLUMNS = ['id', 'host', 'pid', 'version', 'role', 'started_at', 'seen_at', 'key_state_age_ms']

export function processRoutes(app: App, { db }: { readonly db: Database }): void {
  app.get(
    '/management/v1/processes',
    {
      config: forOperators('viewer', 'all'),
      schema: {
        tags: ['service'],
        operationId: 'process.list',
        summary: 'List the running processes, newest first',
        querystring: strict(PageQuery),
        response: { 200: listOf(Process) },
        'x-columns': COLUMNS,
      },
    },
    async (request) => {
      const page = pageOf(request.query)
      const now = await db.now()
      const all = await listProcesses(db, { now, withinMs: LISTED_FOR_MS })
      const rows = all.slice(page.offset, page.offset + page.limit + 1)
      return listAnswer({ rows, total: all.length }, page, { item: (row) => processView(row, now) })
    },
  )
}
