import { beforeEach, expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { genericPlans, heardStatements, isSetting } from '../../../test/heard-statements.ts'
import { MIGRATIONS } from '../../app/migrations/index.ts'
import { systemClock } from '../../platform/clock.ts'
import { type Database, migrate, type PostgresDatabase } from '../../platform/database/index.ts'
import { createVault } from '../../platform/encryption.ts'
import { createEgressPolicy } from '../../platform/outbound/index.ts'
import { randomBytes } from '../../platform/secrets.ts'
import { type EventTables, writeEvent } from '../events/index.ts'
import { createProjectIn } from '../projects/index.ts'
import { createDestination } from '../webhooks/create-destination.ts'
import { deleteDestination } from '../webhooks/destination-changes.ts'
import type { DeliveryTables } from './delivery.ts'
import { NO_CAPACITY } from './destination-limits.ts'
import { fanOut, MAX_DELIVERIES_PER_BATCH, type OutboxBatch } from './fan-out.ts'
import { relayBatch } from './outbox.store.ts'
import { settleAndClaim } from './settle-and-claim.ts'

const ACTOR = { type: 'system', id: 'test', address: null, requestId: null } as const
const KIND = 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED'
const random = randomBytes

eachEngine((engine) => {
  let db: Database
  let projectId: string

  beforeEach(async () => {
    db = await engine.open({ clock: systemClock })
    await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
    projectId = await newProject('Club')
  })

  const newProject = async (name: string): Promise<string> =>
    (await db.transaction((tx) => createProjectIn({ random }, tx, { name, actor: ACTOR }))).id
  const deps = () => ({
    ...{ db, random, vault: createVault(Buffer.alloc(32, 1), random), egressPolicy: createEgressPolicy([]) },
  })
  const subscribe = async (to = projectId): Promise<string> => {
    const fields = { target_url: 'https://hooks.example/in' }
    return (await createDestination(deps(), { projectId: to, kind: 'webhook', fields, actor: ACTOR })).row.id
  }
  const happen = (times: number, data: object = { a: 1 }, of = projectId) =>
    db.transaction(async (tx) => {
      const about = {
        projectId: of,
        kind: KIND,
        entityId: 'cust_7',
        campaignId: null,
        groupId: 'v-1',
      } as const
      for (let i = 0; i < times; i++)
        await writeEvent({ random }, tx, { ...about, source: { channel: 'API' }, data: { ...data, i } })
    })
  const outboxCount = async () =>
    (await db.read<EventTables>().selectFrom('outbox').select('event_id').execute()).length
  const deliveries = () => db.read<DeliveryTables>().selectFrom('deliveries').selectAll().execute()

  /** Relays one batch, and returns what was read for it. */
  async function relay({ limit = 500, from = 0, to = db } = {}): Promise<OutboxBatch> {
    let read: OutboxBatch | undefined
    await relayBatch(to, { limit, from }, (batch) => {
      read = batch
      return fanOut({ batch, capacities: NO_CAPACITY, claimId: '', claimedAt: 0 })
    })
    return read!
  }

  test('a batch has the oldest events, whole and in order, up to its limit', async () => {
    await happen(5, { text: 'Zoë 🎁' })
    const stored = await db.read<EventTables>().selectFrom('events').selectAll().orderBy('id').execute()
    const first = await relay({ limit: 3 })
    expect(first.events).toMatchObject(stored.slice(0, 3))
    expect((await relay()).events).toMatchObject(stored.slice(3))
    expect([(await relay()).events, await outboxCount()]).toEqual([[], 0])
  })

  test('a batch has the destinations of its projects that are not deleted, and which of them have a backlog', async () => {
    const other = await newProject('Other')
    const [kept, deleted, foreign] = [await subscribe(), await subscribe(), await subscribe(other)]
    await deleteDestination(deps(), { projectId, kind: 'webhook', id: deleted, actor: ACTOR })
    await happen(1)
    expect((await relay()).withBacklog).toEqual([])
    await happen(1)
    const batch = await relay()
    expect(batch.destinations.map(({ id }) => id)).toEqual([kept])
    expect(batch.withBacklog).toEqual([kept])
    await happen(1, {}, other)
    expect((await relay()).destinations.map(({ id }) => id)).toEqual([foreign])
  })

  test('an event that was deleted leaves the outbox and delays nothing', async () => {
    await subscribe()
    await happen(4)
    await db.transaction((tx) => tx.write<EventTables>().deleteFrom('events').execute())
    await happen(1)
    expect((await relay({ limit: 4 })).events).toEqual([])
    expect((await relay()).events).toHaveLength(1)
    expect([(await deliveries()).length, await outboxCount()]).toEqual([1, 0])
  })

  test('a batch reads at most 8 MB of data beyond its first event, and the rest stays', async () => {
    await happen(20, { text: 'x'.repeat(1024 * 1024) })
    const sizes = [
      (await relay()).events.length,
      (await relay()).events.length,
      (await relay()).events.length,
    ]
    expect(sizes).toEqual([8, 8, 4])
    await happen(2, { text: 'x'.repeat(9 * 1024 * 1024) })
    expect([(await relay()).events.length, (await relay()).events.length]).toEqual([1, 1])
  })

  test('a batch stops after 500 deliveries, and the rest of its events stay in the outbox', async () => {
    for (let i = 0; i < 5; i++) await subscribe()
    await happen(110)
    await relay()
    expect([(await deliveries()).length, await outboxCount()]).toEqual([MAX_DELIVERIES_PER_BATCH, 10])
    await relay()
    expect([(await deliveries()).length, await outboxCount()]).toEqual([550, 0])
  })

  test('an existing delivery stays unchanged, and the event leaves the outbox', async () => {
    await subscribe()
    await happen(2)
    await relay({ limit: 1 })
    const [first] = await deliveries()
    await db.transaction(async (tx) => {
      const { event_id, project_id } = first!
      const row = { created_at: 1, project_id, event_id }
      await tx.write<EventTables>().insertInto('outbox').values(row).execute()
    })
    await relay()
    expect([(await deliveries()).length, await outboxCount()]).toEqual([2, 0])
  })

  // A connection keeps the plans that it made when all tables were empty.
  if (engine.name === 'PostgreSQL') {
    const fill =
      () => `insert into events (project_id, id, kind, version, entity_id, channel, data, occurred_at, created_at)
      select '${projectId}', 'e' || i, '${KIND}', 'v1', 'cust_' || i % 9, 'API', repeat('x', 99), i, i
      from generate_series(1, 5000) i`
    const send = (text: string) =>
      (db as PostgresDatabase).withConnection((connection) => connection.query(text))

    test('the relay finds events by their primary key, also with plans from when the table was empty', async () => {
      const readByOtherIndexes = async () => {
        await send('select pg_stat_force_next_flush()')
        const [row] = await send(`select coalesce(sum(idx_tup_read), 0)::int as n from pg_stat_user_indexes
          where relname = 'events' and indexrelname <> 'events_pk'`)
        return row!.n as number
      }
      for (let i = 0; i < 12; i++) await relay()
      await send(fill())
      const before = await readByOtherIndexes()
      await happen(20)
      for (let i = 0; i < 12; i++) await relay({ limit: 2 })
      expect(await outboxCount()).toBe(0)
      expect((await readByOtherIndexes()) - before).toBeLessThan(100)
    })

    test('a claim finds events and destinations by their primary keys, for any table contents', async () => {
      const { db: heard, texts } = heardStatements(db as PostgresDatabase)
      const claim = {
        id: 'c',
        limit: 1,
        defaultCapacity: 1,
        capacities: {},
        cursor: { project_id: '', id: '' },
      }
      await settleAndClaim(heard, {
        now: 0,
        settlements: [],
        released: [],
        failing: [],
        recovered: [],
        claim,
      })
      const statements = [...texts].filter((text) => isSetting(text) || text.trim().startsWith('with'))
      for (const change of ['select 1', fill(), 'analyze events']) {
        await send(change)
        const plans = await genericPlans(db as PostgresDatabase, statements)
        const found = plans.flatMap((step, i) =>
          / on (events|destinations)\b/.test(step) ? [[step, plans[i + 1] ?? ''] as const] : [],
        )
        expect(found).toHaveLength(3)
        for (const [step, condition] of found) {
          expect(step).toMatch(/using (events|destinations)_pk on/)
          expect(condition).toMatch(
            /^Index Cond: \(\(project_id = .+\) AND \(id >= (.+)\) AND \(id <= \1\)\)$/,
          )
        }
      }
    })
  }
})
