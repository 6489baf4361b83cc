import { setTimeout as wait } from 'node:timers/promises'
import { createRetention } from '../../server/src/features/deliveries/index.ts'
import { withDatabase } from '../jeton/projects.ts'
import type { ScaleStores } from './store.ts'

/** Size of the tables of events, deliveries and attempts after a day. */
export interface DaySize {
  readonly day: number
  readonly tableBytes: number
  readonly indexBytes: number
  readonly deadRows: number
}

const DAY_MS = 86_400_000
const KEPT_DAYS = 30
const PROJECTS = 100
const AUTOVACUUM_MS = 2_500

interface Options {
  readonly eventsPerDay: number
  readonly days: number
  log(line: string): void
}

/** One day of events with a delivery and an attempt each, in the order of time. A delivery is updated twice, like by a worker. */
const dayOf = (day: number, events: number): string => `
  create temp table day on commit drop as
    select 'proj_' || lpad((i % ${PROJECTS})::text, 16, '0') as project_id,
      lpad(at::text, 13, '0') || lpad((i % 1000000)::text, 6, '0') as suffix, at
    from (select i, ${day * DAY_MS} + i * ${DAY_MS} / ${events} as at from generate_series(1::bigint, ${events}) i) n;
  insert into events (project_id, id, kind, version, entity_id, channel, data, occurred_at, created_at)
    select project_id, 'evcus_' || suffix, 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED', '2024-01-01',
      'cust_' || right(suffix, 5), 'API', repeat('x', 500), at, at from day;
  insert into deliveries (project_id, id, event_id, destination_id, status, head, tail, attempts_made, slot,
      next_attempt_at, created_at)
    select project_id, 'whs_' || suffix, 'evcus_' || suffix, 'wh_' || right(project_id, 3), 'pending', repeat('x', 200),
      repeat('x', 400), 0, 0, at, at from day;
  update deliveries set claim_id = 'claim', next_attempt_at = next_attempt_at + 20000 where status = 'pending';
  update deliveries set status = 'delivered', claim_id = null, next_attempt_at = null, attempts_made = 1,
    first_attempt_at = created_at, settled_at = created_at where status = 'pending';
  insert into attempts (project_id, delivery_id, number, at, duration_ms, status)
    select project_id, 'whs_' || suffix, 1, at, 10, 200 from day`

const SIZE = `select sum(pg_table_size(relid))::bigint as "tableBytes", sum(pg_indexes_size(relid))::bigint as "indexBytes",
  sum(n_dead_tup)::bigint as "deadRows" from pg_stat_user_tables where relname in ('events', 'deliveries', 'attempts')`

/** Writes and removes days of events until the sizes are stable, with autovacuum as it is. */
export async function measureBloat(
  stores: ScaleStores,
  { eventsPerDay, days, log }: Options,
): Promise<DaySize[]> {
  // A day takes seconds here, so autovacuum must look every second instead of every minute.
  await stores.measure('autovacuum_naptime=1s', 'fsync=off')
  const store = await stores.create('bloat')
  const sizes: DaySize[] = []
  await withDatabase({ env: { ...store.env, JETON_PORT: '0' } }, (db) =>
    store.withSql(async (run) => {
      await run(`insert into projects (id, name, token_limit, credits, created_at, updated_at)
        select 'proj_' || lpad(i::text, 16, '0'), 'Project ' || i, 1000, 1000, 1, 1 from generate_series(0, ${PROJECTS - 1}) i`)
      const retention = createRetention({ db, days: KEPT_DAYS, batchesPerRun: Number.MAX_SAFE_INTEGER })
      for (let day = 1; day <= days; day++) {
        await run(`begin;${dayOf(day, eventsPerDay)};commit`)
        await retention.run((day + 1) * DAY_MS)
        // Autovacuum has a day for this.
        await wait(AUTOVACUUM_MS)
        const [size] = await run(SIZE)
        sizes.push({ day, ...numbersOf(size!) } as DaySize)
        if (day % 10 === 0) log(`day ${day}: ${JSON.stringify(sizes.at(-1))}`)
      }
    }),
  )
  return sizes
}

const numbersOf = (row: object): object =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)]))
