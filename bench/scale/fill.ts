import { keyIdOf } from '../../server/src/platform/encryption.ts'
import { digestOf, newCredential } from '../../server/src/platform/secrets.ts'
import { redemptionData } from '../../server/test/reported-redemption.ts'
import { withDatabase } from '../jeton/projects.ts'
import type { Client } from '../subject.ts'
import type { RunSql, ScaleStore } from './store.ts'

/** Numbers of rows. The first project has a tenth of all keys and events, and a hundredth of the destinations. */
export interface Size {
  readonly projects: number
  readonly keys: number
  readonly destinations: number
  readonly events: number
}

export const ENCRYPTION_KEY = Buffer.alloc(32, 7)
const SECRET = newCredential((size) => Buffer.alloc(size, 9), 'jta_')
const DAY_MS = 86_400_000
/** Events before the retention period, for measured runs of retention. */
export const OLD_EVENTS = 20_000
export const OLD_EVENT_PROJECTS = 20
export const RETENTION_DAYS = 90

const PROJECT_NUMBER_LENGTH = 16
export const projectId = (n: number): string => `proj_${String(n).padStart(PROJECT_NUMBER_LENGTH, '0')}`
const appId = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

/** A key of the project with this number, from 2. */
export function clientOf(project: number): Client {
  const dense = project - 2
  return { id: appId(10 * Math.floor(dense / 9) + (dense % 9) + 1), secret: SECRET }
}

interface Dialect {
  /** A number as text of a fixed length. */
  pad(expression: string, length: number): string
  /** A table `n` with the numbers from 1 in column `i`. */
  numbers(to: number): string
  bytes(hex: string): string
}

const DIALECTS: Readonly<Record<ScaleStore['engine'], Dialect>> = {
  postgres: {
    pad: (expression, length) => `lpad((${expression})::text, ${length}, '0')`,
    numbers: (to) => `generate_series(1::bigint, ${to}::bigint) as n(i)`,
    bytes: (hex) => `'\\x${hex}'`,
  },
  sqlite: {
    pad: (expression, length) => `printf('%0${length}d', ${expression})`,
    numbers: (to) =>
      `(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${to}) select i from n) as n`,
    bytes: (hex) => `x'${hex}'`,
  },
}

/** Number of the project that owns row `i`. */
const ownerOf = ({ projects }: Size): string =>
  `case when i % 10 = 0 then 1 else (i / 10 * 9 + i % 10 - 1) % ${projects - 1} + 2 end`

interface Fill {
  readonly size: Size
  readonly now: number
  readonly dialect: Dialect
}

const fillProjects = ({ size, now, dialect: { pad, numbers } }: Fill): string =>
  `insert into projects (id, name, token_limit, credits, created_at, updated_at)
  select 'proj_' || ${pad('i', 16)}, 'Project ' || i, 1000, 1000, ${now - 100 * DAY_MS} + i, ${now}
  from ${numbers(size.projects)}`

/** All keys have the same secret. In the first project, one in twenty is deleted and one in a hundred blocked. */
const fillKeys = ({ size, now, dialect: { pad, numbers, bytes } }: Fill): string =>
  `insert into api_keys (project_id, id, name, app_id, client_id, secret_digest, secret_last4, permissions, ip_whitelist,
    credits, state, epoch, version, changed_at, created_at, updated_at, last_used_at)
  select 'proj_' || ${pad('p', 16)}, 'key_' || ${pad('i', 16)}, 'Key ' || i, '00000000-0000-4000-8000-' || ${pad('i', 12)},
    'cl_' || ${pad('i', 16)}, ${bytes(digestOf(SECRET).toString('hex'))}, '${SECRET.slice(-4)}', '["api"]', '[]', 0,
    case when i % 200 = 10 then 'deleted' when i % 1000 = 20 then 'blocked' else 'active' end, 1, 1,
    at, at, at, case when i % 10 < 3 then ${now} - i % 1000 * 60000 end
  from (select i, ${ownerOf(size)} as p, ${now - 95 * DAY_MS} + i as at from ${numbers(size.keys)}) k`

const fillAudit = ({ size, now, dialect: { pad, numbers } }: Fill): string =>
  `insert into audit_log (id, at, actor_type, actor_id, address, action, project_id, subject_type, subject_id, after)
  select 'aud_' || ${pad('i', 19)}, ${now - 95 * DAY_MS} + i, 'operator', 'scale', '127.0.0.1', 'api_key.created',
    'proj_' || ${pad('p', 16)}, 'api_key', 'key_' || ${pad('i', 16)}, '{"name":"Key","permissions":["api"],"state":"active"}'
  from (select i, ${ownerOf(size)} as p from ${numbers(size.keys)}) k`

const destinationId = ({ pad }: Dialect, p: string, k: string): string =>
  `case when ${k} = 0 then 'wh_' else 'distr_' end || ${pad(`${p} * 10000 + ${k}`, 16)}`

const destinationsInFirst = ({ destinations }: Size): number => Math.max(1, Math.round(destinations / 100))

/** One webhook per project, else distributions. They subscribe to no event, so that nothing is sent to them. */
function fillDestinations({ size, now, dialect }: Fill): string {
  const perProject = Math.round((size.destinations * 0.99) / (size.projects - 1))
  const inFirst = destinationsInFirst(size)
  const sealed = `v1.${keyIdOf(ENCRYPTION_KEY)}.${'x'.repeat(90)}`
  return `insert into destinations (project_id, id, kind, name, campaign_id, headers, target_url, events, active, secret,
    secret_last4, created_at, updated_at)
  select 'proj_' || ${dialect.pad('p', 16)}, ${destinationId(dialect, 'p', 'k')},
    case when k = 0 then 'webhook' else 'distribution' end, 'Destination ' || k,
    case when k > 0 then 'camp_' || ${dialect.pad('k', 16)} end, '{}', 'https://receiver.example/hooks/' || i, '[]',
    case when i % 50 = 0 then 0 else 1 end, '${sealed}', 'xxxx', ${now - 95 * DAY_MS} + i, ${now}
  from (select i, case when i <= ${inFirst} then 1 else (i - ${inFirst} - 1) % ${size.projects - 1} + 2 end as p,
    case when i <= ${inFirst} then i - 1 else (i - ${inFirst} - 1) / ${size.projects - 1} end as k
    from ${dialect.numbers(inFirst + perProject * (size.projects - 1))}) d`
}

const DATA = JSON.stringify(redemptionData()).slice(0, 500)

/** Number, project and time of each event: evenly over the retention period, and some before it. */
function eventRows({ size, now, dialect }: Fill): string {
  const step = (RETENTION_DAYS - 1) * DAY_MS
  return `(select i, 'proj_' || ${dialect.pad('p', 16)} as project_id, p, at, ${dialect.pad('at', 13)} || ${dialect.pad('i % 1000000', 6)} as suffix
    from (select i, case when i > ${size.events} then 2 + i % ${OLD_EVENT_PROJECTS} else ${ownerOf(size)} end as p,
      case when i > ${size.events} then ${now - 100 * DAY_MS} + i - ${size.events}
        else ${now} - ${step} + i * ${step} / ${size.events} end as at
      from ${dialect.numbers(size.events + OLD_EVENTS)}) owned) e`
}

const fillEvents = (fill: Fill): string =>
  `insert into events (project_id, id, kind, version, entity_id, group_id, channel, key_name, key_app_id, data, occurred_at,
    created_at)
  select project_id, 'evcus_' || suffix, 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED', '2024-01-01',
    'cust_' || ${fill.dialect.pad('i % 100000', 16)}, null, 'API', 'Key', '${appId(1)}', '${DATA}', at, at
  from ${eventRows(fill)}`

const HEAD = `{"id":"whs_","type":"EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED","data":${'x'.repeat(100)}`
const TAIL = `},"source":{"id":"wh_"},"event":{${'x'.repeat(300)}}}`

/** One delivery per event. One in a thousand was given up, one in ten thousand waits for its next attempt. */
function fillDeliveries(fill: Fill): string {
  const inFirst = `i / 10 % 2 * (i / 10 % ${destinationsInFirst(fill.size)})`
  const k = `case when p = 1 then ${inFirst} when i % 10 > 7 then i % 10 else 0 end`
  const hasFailed = "status <> 'delivered'"
  return `insert into deliveries (project_id, id, event_id, destination_id, status, head, tail, attempts_made, slot,
    first_attempt_at, next_attempt_at, created_at, settled_at, last_status, last_error)
  select project_id, 'whs_' || suffix, 'evcus_' || suffix, ${destinationId(fill.dialect, 'p', 'k')}, status,
    '${HEAD}', '${TAIL}', 1, 0, at + 10, case when status = 'pending' then ${fill.now + 3 * DAY_MS} end, at + 5,
    case when status <> 'pending' then at + 20 end, case when ${hasFailed} then 503 end,
    case when ${hasFailed} then 'answered 503' end
  from (select e.*, ${k} as k, case when i <= ${fill.size.events} and i % 9973 = 0 then 'pending'
    when i % 997 = 0 then 'exhausted' else 'delivered' end as status from ${eventRows(fill)}) d`
}

const fillAttempts = (fill: Fill): string =>
  `insert into attempts (project_id, delivery_id, number, at, duration_ms, status, error)
  select project_id, 'whs_' || suffix, 1, at + 10, 10, case when i % 997 = 0 or i % 9973 = 0 then 503 else 200 end,
    case when i % 997 = 0 or i % 9973 = 0 then 'answered 503' end from ${eventRows(fill)}`

const TABLES: Readonly<Record<string, (fill: Fill) => string>> = {
  ...{ projects: fillProjects, api_keys: fillKeys, audit_log: fillAudit, destinations: fillDestinations },
  ...{ events: fillEvents, deliveries: fillDeliveries, attempts: fillAttempts },
}

const INDEXES = {
  postgres: (
    table: string,
  ) => `select 'drop index ' || indexrelid::regclass as drop, pg_get_indexdef(indexrelid) as create
    from pg_index where indrelid = '${table}'::regclass and not indisunique
    union all
    select format('alter table %I drop constraint %I', '${table}', conname),
      format('alter table %I add constraint %I %s', '${table}', conname, pg_get_constraintdef(oid))
    from pg_constraint where conrelid = '${table}'::regclass and contype in ('p', 'u')`,
  sqlite: (table: string) => `select 'drop index ' || name as "drop", sql as "create" from sqlite_master
    where type = 'index' and tbl_name = '${table}' and sql not null and sql not like '%unique%'`,
}

/** Builds the indexes after the rows, in a fraction of the time. */
async function fillTable(run: RunSql, table: string, { engine }: ScaleStore, insert: string): Promise<void> {
  const indexes = await run(INDEXES[engine](table))
  await run('begin')
  // PostgreSQL then logs no row of this transaction.
  if (engine === 'postgres') await run(`truncate ${table}`)
  for (const index of indexes) await run(String(index.drop))
  await run(insert)
  for (const index of indexes) await run(String(index.create))
  await run('commit')
}

/** Fills an empty store, with the rows that traffic and retention would have left. */
export async function fillStore(store: ScaleStore, size: Size, log: (line: string) => void): Promise<void> {
  await withDatabase({ env: { ...store.env, JETON_PORT: '0' } }, async () => undefined)
  const fill = { size, now: Date.now(), dialect: DIALECTS[store.engine] }
  await store.withSql(async (run) => {
    if (store.engine === 'sqlite')
      for (const pragma of ['journal_mode = off', 'synchronous = off', 'cache_size = -4000000'])
        await run(`pragma ${pragma}`)
    for (const [table, statement] of Object.entries(TABLES)) {
      const startedAt = performance.now()
      await fillTable(run, table, store, statement(fill))
      log(`${table} filled in ${Math.round((performance.now() - startedAt) / 1000)} s`)
    }
    if (store.engine === 'sqlite') await run('pragma journal_mode = wal')
    else for (const statement of ['vacuum analyze', 'checkpoint']) await run(statement)
  })
}
