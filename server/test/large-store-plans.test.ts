import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MIGRATIONS } from '../src/app/migrations/index.ts'
import { listApiKeyRows, namesOfKeys } from '../src/features/api-keys/api-key.store.ts'
import { listOldSecretUses, listUnusedKeys } from '../src/features/api-keys/key-attention.store.ts'
import { saveKeyUse } from '../src/features/api-keys/key-use.store.ts'
import { countInFlight, readBacklog } from '../src/features/deliveries/delivery.store.ts'
import { countRanges } from '../src/features/deliveries/delivery-count.store.ts'
import { lastErrorsOf, listExhausted, readBacklogs } from '../src/features/deliveries/health.store.ts'
import { deleteSomeKeysBefore } from '../src/features/idempotency/idempotency.store.ts'
import { listProjectRows, listProjectsDeletedBefore } from '../src/features/projects/project.store.ts'
import { deleteSomeRefusalsBefore } from '../src/features/refusals/refusal.store.ts'
import { listFailing, listNeededKeyIds } from '../src/features/webhooks/destination.store.ts'
import { forgetPreviousSecrets, forgetSkips } from '../src/features/webhooks/destination-jobs.store.ts'
import {
  migrate,
  type PostgresDatabase,
  type Reader,
  type Transaction,
} from '../src/platform/database/index.ts'
import { pageOf } from '../src/platform/http/index.ts'
import { eachEngine } from './engines.ts'
import { type Explained, openExplained } from './explained.ts'
import { explainedPostgres } from './explained-postgres.ts'

const page = pageOf({ limit: 2, page: 3 })
const name = { project_id: 'p', id: 'key_1' }
const use = { projectId: 'p', id: 'key_1', at: 1, address: '127.0.0.1', withOldSecret: false }

type Work = (store: { readonly reader: Reader; readonly tx: Transaction }) => Promise<unknown>

/** Work that is done for lists or by background jobs, and must not become slower with every key and destination. */
const WORK: Readonly<Record<string, Work>> = {
  'a list of projects': ({ reader }) => listProjectRows(reader, page, { ids: null }),
  'a list of keys': ({ reader }) => listApiKeyRows(reader, { projectId: 'p' }, page),
  'a list of blocked keys': ({ reader }) =>
    listApiKeyRows(reader, { projectId: 'p', state: 'blocked' }, page),
  'a list of deleted keys': ({ reader }) =>
    listApiKeyRows(reader, { projectId: 'p', state: 'deleted' }, page),
  'a key by its name': ({ reader }) => listApiKeyRows(reader, { projectId: 'p', name: 'Key 1' }, page),
  'names of keys': ({ reader }) => namesOfKeys(reader, [name]),
  'the last use of keys': ({ tx }) => saveKeyUse(tx, [use, { ...use, id: 'key_2' }]),
  'uses of old secrets': ({ reader }) => listOldSecretUses(reader, { limit: 100, now: 5 }),
  'unused keys': ({ reader }) => listUnusedKeys(reader, { limit: 100, before: 5 }),
  'failing destinations': ({ reader }) => listFailing(reader, { failingBefore: 5, limit: 100 }),
  'health of destinations': ({ reader }) => readBacklogs(reader, [{ project_id: 'p', id: 'wh_1' }], 5),
  'the last errors of destinations': ({ reader }) => lastErrorsOf(reader, [{ project_id: 'p', id: 'wh_1' }]),
  'required encryption keys': ({ reader }) => listNeededKeyIds(reader),
  'destinations with exhausted deliveries': ({ reader }) => listExhausted(reader, { now: 5, limit: 100 }),
  'those of one project': ({ reader }) => listExhausted(reader, { projectId: 'p', now: 5, limit: 100 }),
  'the backlog': ({ reader }) => readBacklog(reader, 5),
  'deliveries in flight': ({ reader }) => countInFlight(reader, 5),
  'deleted projects': ({ reader }) => listProjectsDeletedBefore(reader, 5),
  'previous secrets': ({ tx }) => forgetPreviousSecrets(tx, 5),
  'skipped events': ({ tx }) => forgetSkips(tx),
  'old idempotency keys': ({ tx }) => deleteSomeKeysBefore(tx, 5, 500),
  'old refusals': ({ tx }) => deleteSomeRefusalsBefore(tx, 5, 500),
}

/** Indexes that may be read from one end: they hold few rows, or give the order of a list that ends at a limit. */
const SHORT_INDEX =
  /^SCAN \w+ USING (COVERING )?INDEX (projects_newest|projects_name|api_keys_changed|api_keys_in_grace|destinations_(with_skips|with_headers|in_overlap|disabled|failing)|deliveries_(due|by_error))\b/

/** Where the project alone would be found by index as well. */
const INDEXES: Readonly<Record<string, string>> = {
  'a list of projects': 'projects_newest',
  'a list of keys': 'INDEX api_keys_newest (project_id=?)',
  'a list of blocked keys': 'INDEX api_keys_newest (project_id=?)',
  'a list of deleted keys': 'INDEX api_keys_deleted (project_id=?)',
  'a key by its name': 'api_keys_by_name (project_id=? AND name=?)',
  'the last use of keys': '(project_id=? AND id=?)',
}

describe('query plans of large stores', () => {
  let explained: Explained
  beforeAll(async () => {
    explained = await openExplained()
  })
  afterAll(() => explained.database.close())

  test.each(Object.entries(WORK))(
    'on SQLite, %s are found by index and never by reading a table',
    async (what, work) => {
      const plan = await explained.planOf(() => work(explained))
      expect(plan.length).toBeGreaterThan(0)
      // The tables that a statement makes for itself are short.
      const own = /^\w+ (q|queues|checked|counted|some|first_project|seek|CONSTANT|\d+|\(subquery)\b/
      for (const step of plan.filter((one) => !own.test(one) && !SHORT_INDEX.test(one)))
        expect(step).toMatch(/^SEARCH .* USING .*(INDEX|PRIMARY KEY)/)
      expect(plan.join()).toContain(INDEXES[what] ?? '')
    },
  )
})

/** Statistics decide on PostgreSQL, so the tables have rows: one in a thousand is what the partial indexes hold. */
const FILL = `
  insert into projects (id, name, token_limit, credits, created_at, updated_at)
  select 'p' || i, 'Project ' || i, 1000, 1000, i, i from generate_series(1, 2000) i;
  insert into projects (id, name, token_limit, credits, created_at, updated_at) values ('p', 'Project', 1000, 1000, 1, 1);
  insert into api_keys (project_id, id, name, app_id, client_id, secret_digest, secret_last4, permissions, ip_whitelist,
    credits, state, epoch, version, changed_at, created_at, updated_at, previous_until)
  select case when i % 2 = 0 then 'p' else 'p' || i % 2000 end, 'key_' || i, 'Key ' || i, 'app_' || i, 'cl_' || i, '', '', '[]',
    '[]', 0, case when i % 100 = 0 then 'blocked' else 'active' end, 1, 1, i, i, i, case when i % 1000 = 0 then i end
  from generate_series(1, 10000) i;
  insert into destinations (project_id, id, kind, headers, target_url, events, active, secret, secret_last4, created_at,
    updated_at, previous_until, failing_since, skips, disabled_reason)
  select 'p' || i % 2000, 'wh_' || i, 'webhook', '{}', '', '[]', case when i % 1000 = 0 then 0 else 1 end, '', '', i, i,
    case when i % 1000 = 1 then i end, case when i % 1000 = 2 then i end, case when i % 1000 = 3 then '["e"]' else '[]' end,
    case when i % 1000 = 0 then 'it answered 410' end
  from generate_series(1, 30000) i;
  insert into deliveries (project_id, id, event_id, destination_id, status, head, tail, attempts_made, slot, created_at,
    next_attempt_at, last_error)
  select 'p' || i % 2000, 'whs_' || i, 'e' || i, 'wh_' || i, case when i % 1000 = 0 then 'pending' when i % 1000 = 1 then
    'exhausted' else 'delivered' end, '', '', 1, 0, i, case when i % 1000 = 0 then i end,
    case when i % 1000 < 2 then 'answered 503' end
  from generate_series(1, 10000) i`

eachEngine((engine) => {
  test.skipIf(engine.name !== 'PostgreSQL')(
    'on PostgreSQL, no list and no background job reads all keys, destinations or deliveries',
    async () => {
      const db = (await engine.open()) as PostgresDatabase
      await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
      for (const statement of FILL.split(';')) await db.withConnection(({ query }) => query(statement))
      await db.withConnection(({ query }) => query('vacuum analyze'))
      const { reader, scansOf } = explainedPostgres(db)
      const same = (query: unknown) => query
      const tx = { read: reader.read, write: reader.read, lock: same, claim: same } as never as Transaction
      for (const [what, work] of Object.entries(WORK)) {
        const scans = await scansOf(() => work({ reader, tx }))
        expect(scans.length, what).toBeGreaterThan(0)
        expect(
          scans.filter((step) => /Seq Scan on (api_keys|destinations|deliveries)/.test(step)),
          what,
        ).toEqual([])
      }
      // As a join, each of 300 failures was compared with each of 300 destinations.
      const destinationIds = Array.from({ length: 300 }, (_, i) => `wh_${i}`)
      const ranges = {
        projectId: 'p1',
        groups: [{ state: 'exhausted', destinationIds }],
        failure: { httpStatus: 503 },
      }
      const counted = await scansOf(() => countRanges(reader, ranges as never, page))
      expect(counted.join()).toContain('deliveries_by_answer')
      expect(counted.join()).not.toContain('destinations')
    },
  )
})
