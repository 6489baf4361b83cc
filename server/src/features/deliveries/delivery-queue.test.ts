import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { eachEngine, type TestEngine } from '../../../test/engines.ts'
import { TestClock } from '../../../test/test-clock.ts'
import { MIGRATIONS } from '../../app/migrations/index.ts'
import { type Database, migrate } from '../../platform/database/index.ts'
import { randomBytes } from '../../platform/secrets.ts'
import { type EventTables, writeEvent } from '../events/index.ts'
import type { DestinationTables } from '../webhooks/index.ts'
import { countInFlight, countWaitingEvents, readBacklog, resumeHeld } from './delivery.store.ts'
import type { DeliveryTables } from './delivery.ts'
import {
  type Claimed,
  type ClaimRequest,
  type DestinationId,
  LEASE_MS,
  type SettleAndClaim,
  type Settlement,
} from './delivery-queue.ts'
import { NO_CAPACITY } from './destination-limits.ts'
import { fanOut } from './fan-out.ts'
import { relayBatch } from './outbox.store.ts'
import { settleAndClaim } from './settle-and-claim.ts'

type Tables = DeliveryTables & DestinationTables & EventTables

const DESTINATION = {
  kind: 'webhook',
  name: null,
  campaign_id: null,
  event_name: null,
  headers: '{}',
  target_url: 'https://hooks.example/',
  events: '["EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED"]',
  active: 1,
  disabled_reason: null,
  description: null,
  secret: '',
  secret_last4: '',
  previous_secret: null,
  previous_until: null,
  failing_since: null,
  released_at: null,
  skips: '[]',
  created_at: 0,
  updated_at: 0,
  deleted_at: null,
} as const

/** Makes a claim slow: it acts on data that is half a second old. */
const SLOW_CLOCK = `create or replace function jeton_now() returns bigint language plpgsql as
  'begin perform pg_sleep(0.5); return (extract(epoch from clock_timestamp()) * 1000)::bigint; end'`

/** The first queue. */
const START = { project_id: '', id: '' }

async function prepared(engine: TestEngine) {
  const clock = new TestClock(Date.now())
  const db = await engine.open({ clock })
  await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
  let claims = 0

  async function run(
    input: Partial<Omit<SettleAndClaim, 'claim'>> & { claim?: Partial<ClaimRequest> | null } = {},
  ) {
    const { claim = {}, ...rest } = input
    const id = `claim${++claims}`
    const output = await settleAndClaim(db, {
      now: clock.now(),
      settlements: [],
      released: [],
      failing: [],
      recovered: [],
      ...rest,
      claim: claim && { id, limit: 100, capacities: {}, defaultCapacity: 100, cursor: START, ...claim },
    })
    return { ...output, claimId: claim?.id ?? id }
  }

  return {
    db,
    clock,
    run,
    destination: (project_id: string, id: string, fields: object = {}) =>
      db.transaction(async (tx) => {
        await tx
          .write<Tables>()
          .insertInto('destinations')
          .values({ ...DESTINATION, project_id, id, ...fields })
          .execute()
      }),
    event: (projectId: string, id: string) =>
      db.transaction((tx) =>
        writeEvent({ random: randomBytes }, tx, {
          id,
          projectId,
          kind: 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED',
          entityId: 'cust_1',
          campaignId: null,
          groupId: null,
          source: { channel: 'API' },
          data: { of: id },
        }),
      ),
    relay: async () => {
      const unclaimed = { capacities: NO_CAPACITY, claimId: '', claimedAt: 0 }
      const { events } = await relayBatch(db, { from: 0, limit: 500 }, (batch) =>
        fanOut({ batch, ...unclaimed }),
      )
      return events.length
    },
    deliveries: () => db.read<Tables>().selectFrom('deliveries').selectAll().orderBy('event_id').execute(),
    attempts: () => db.read<Tables>().selectFrom('attempts').selectAll().execute(),
    update: (table: 'destinations' | 'deliveries', fields: object, id?: string) =>
      db.transaction(async (tx) => {
        let query = tx
          .write<Tables>()
          .updateTable(table)
          .set(fields as never)
        if (id !== undefined) query = query.where('id', '=', id)
        await query.execute()
      }),
  }
}

const eventsOf = ({ deliveries }: Claimed): string[] => deliveries.map(({ event_id }) => event_id)

const ended = (
  { deliveries, claimId }: Claimed & { claimId: string },
  fields: Partial<Settlement> = {},
): Settlement[] =>
  deliveries.map(({ project_id, id, slot, attempts_made }) => ({
    project_id,
    id,
    claim_id: claimId,
    status: 'delivered',
    slot,
    first_attempt_at: 1,
    next_attempt_at: null,
    attempt: {
      number: attempts_made + 1,
      at: 1,
      duration_ms: 2,
      status: 200,
      response_body: 'ok',
      error: null,
    },
    ...fields,
  }))

async function storeTime(db: Database): Promise<number> {
  return db.transaction((tx) => tx.now())
}

eachEngine((engine) => {
  describe('a claim', () => {
    test('a claim returns due deliveries, oldest first, with the bytes to send', async () => {
      const { run, destination, event, relay, clock } = await prepared(engine)
      await destination('proj_a', 'wh_1')
      for (const id of ['evcus_1', 'evcus_2', 'evcus_3']) {
        await event('proj_a', id)
        await clock.advance(1)
        if (engine.name === 'PostgreSQL') await new Promise((resolve) => setTimeout(resolve, 2))
      }
      expect(await relay()).toBe(3)
      const claimed = await run({ claim: { limit: 2 } })
      expect(eventsOf(claimed)).toEqual(['evcus_1', 'evcus_2'])
      expect(claimed.events.map(({ data }) => data)).toEqual(['{"of":"evcus_1"}', '{"of":"evcus_2"}'])
      expect(claimed.targets).toMatchObject([{ id: 'wh_1', target_url: 'https://hooks.example/' }])
      expect(eventsOf(await run())).toEqual(['evcus_3'])
      expect(eventsOf(await run())).toEqual([])
    })

    test('concurrent claims never return the same delivery', async () => {
      const { run, destination, event, relay } = await prepared(engine)
      await destination('proj_a', 'wh_1')
      await destination('proj_a', 'wh_2')
      for (let i = 0; i < 20; i++) await event('proj_a', `evcus_${i}`)
      await relay()
      const claims = await Promise.all(Array.from({ length: 8 }, () => run({ claim: { limit: 7 } })))
      const rest = await run()
      const ids = [...claims, rest].flatMap(({ deliveries }) => deliveries.map(({ id }) => id))
      expect(ids).toHaveLength(40)
      expect(new Set(ids).size).toBe(40)
    })

    test('a claim misses no delivery that is changed at the same time', async () => {
      const { db, run, destination, event, relay, update } = await prepared(engine)
      await destination('proj_a', 'wh_1')
      for (const id of ['evcus_1', 'evcus_2']) await event('proj_a', id)
      await relay()
      if (db.engine === 'postgres') await db.withConnection((pg) => pg.query(SLOW_CLOCK))
      const claiming = run()
      await sleep(200)
      await update('deliveries', { next_attempt_at: 1 })
      expect(eventsOf(await claiming).sort()).toEqual(['evcus_1', 'evcus_2'])
    })

    test('a claim respects the capacity of each destination, and the next claim continues where it stopped', async () => {
      const { run, destination, event, relay } = await prepared(engine)
      for (const id of ['wh_1', 'wh_2', 'wh_3']) await destination('proj_a', id)
      for (let i = 0; i < 10; i++) await event('proj_a', `evcus_${i}`)
      await relay()
      const capacities = { wh_1: 0, wh_2: 3 }
      const first = await run({ claim: { defaultCapacity: 4, capacities, limit: 5 } })
      expect(countBy(first)).toEqual({ wh_2: 3, wh_3: 2 })
      expect(first.next).toEqual({ project_id: 'proj_a', id: 'wh_3' })
      const second = await run({
        claim: { defaultCapacity: 4, capacities, cursor: { project_id: 'proj_a', id: 'wh_2' } },
      })
      expect(countBy(second)).toEqual({ wh_3: 4 })
      expect(second.next).toBeNull()
    })

    test('claims serve destinations in turn, regardless of the order of their deliveries', async () => {
      const { run, destination, event, relay } = await prepared(engine)
      const ids = Array.from({ length: 30 }, (_, i) => `wh_${String((i * 17) % 30).padStart(2, '0')}`)
      for (const id of ids) await destination('proj_a', id)
      for (let i = 0; i < 3; i++) await event('proj_a', `evcus_${i}`)
      await relay()
      const served: string[] = []
      let cursor: DestinationId | null = START
      while (cursor) {
        const claimed = (await run({ claim: { limit: 2, defaultCapacity: 1, cursor } })) as Claimed
        served.push(...claimed.deliveries.map(({ destination_id }) => destination_id))
        cursor = claimed.next
      }
      expect(served).toEqual(ids.toSorted())
    })

    test('a claim returns no held, cancelled or future delivery', async () => {
      const { run, destination, event, relay, update, db } = await prepared(engine)
      await destination('proj_a', 'wh_1')
      await event('proj_a', 'evcus_1')
      await relay()
      await update('destinations', { active: 0 })
      expect(eventsOf(await run())).toEqual([])
      await update('destinations', { active: 1, deleted_at: 1 })
      expect(eventsOf(await run())).toEqual([])
      await update('destinations', { deleted_at: null })
      await update('deliveries', { next_attempt_at: (await storeTime(db)) + 60_000 })
      expect(eventsOf(await run())).toEqual([])
      await update('deliveries', { next_attempt_at: 1 })
      expect(eventsOf(await run())).toEqual(['evcus_1'])
    })

    test('a claimed delivery is due again when its lease ends, and the first worker can no longer settle it', async () => {
      const { run, destination, event, relay, update, deliveries, attempts } = await prepared(engine)
      await destination('proj_a', 'wh_1')
      await event('proj_a', 'evcus_1')
      await relay()
      const first = await run()
      const [leased] = await deliveries()
      expect(leased!.next_attempt_at! - first.now).toBe(LEASE_MS)
      expect(eventsOf(await run())).toEqual([])
      await update('deliveries', { next_attempt_at: first.now })
      const second = await run()
      expect(eventsOf(second)).toEqual(['evcus_1'])
      await run({ settlements: ended(first) })
      expect(await attempts()).toEqual([])
      expect((await deliveries())[0]).toMatchObject({ status: 'pending', attempts_made: 0 })
      await run({ settlements: ended(second) })
      expect((await deliveries())[0]).toMatchObject({ status: 'delivered', attempts_made: 1, claim_id: null })
    })

    test.each(['old', 'new'])(
      'a delivery is settled only by its current holder, also if both settle at once, the %s one first',
      async (which) => {
        const { run, destination, event, relay, update, deliveries, attempts } = await prepared(engine)
        await destination('proj_a', 'wh_1')
        await event('proj_a', 'evcus_1')
        await relay()
        const first = await run()
        await update('deliveries', { next_attempt_at: first.now })
        const both = [...ended(first), ...ended(await run())]
        await run({ settlements: which === 'old' ? both : both.reverse() })
        expect((await deliveries())[0]).toMatchObject({
          status: 'delivered',
          attempts_made: 1,
          claim_id: null,
        })
        expect(await attempts()).toHaveLength(1)
      },
    )

    test('a claim ends when nothing is due', async () => {
      const { run } = await prepared(engine)
      expect(await run()).toMatchObject({ deliveries: [], events: [], targets: [], next: null })
    })
  })

  describe('settling', () => {
    test('settling records the attempt and schedules the delivery', async () => {
      const { run, destination, event, relay, deliveries, attempts } = await prepared(engine)
      await destination('proj_a', 'wh_1')
      await event('proj_a', 'evcus_1')
      await relay()
      const claimed = await run()
      const attempt = {
        number: 1,
        at: 5,
        duration_ms: 7,
        status: null,
        response_body: null,
        error: 'no "answer" \\ here',
      }
      const failed = { status: 'pending', slot: 1, next_attempt_at: 1, first_attempt_at: 5, attempt } as const
      const again = await run({ settlements: ended(claimed, failed) })
      expect(await attempts()).toMatchObject([attempt])
      expect(await deliveries()).toMatchObject([{ last_status: null, last_error: attempt.error }])
      expect(again.deliveries).toMatchObject([{ attempts_made: 1, slot: 1, first_attempt_at: 5 }])
      await run({ settlements: ended(again) })
      expect((await attempts()).map(({ number, status }) => [number, status])).toEqual([
        [1, null],
        [2, 200],
      ])
      const [done] = await deliveries()
      expect(done).toMatchObject({ status: 'delivered', attempts_made: 2, next_attempt_at: null })
      expect(done!.settled_at).not.toBeNull()
      expect(done).toMatchObject({ last_status: null, last_error: null })
    })

    test('a delivery holds the status and the beginning of the error of its last attempt while that failed', async () => {
      const { run, destination, event, relay, deliveries } = await prepared(engine)
      await destination('proj_a', 'wh_1')
      await event('proj_a', 'evcus_1')
      await relay()
      const attempt = {
        number: 1,
        at: 5,
        duration_ms: 7,
        status: 503,
        response_body: null,
        error: 'é'.repeat(600),
      }
      const failed = { status: 'pending', slot: 1, next_attempt_at: 1, first_attempt_at: 5, attempt } as const
      await run({ settlements: ended(await run(), failed) })
      expect(await deliveries()).toMatchObject([{ last_status: 503, last_error: 'é'.repeat(500) }])
    })

    test('settling records since when a destination fails, until it succeeds', async () => {
      const { run, destination, db } = await prepared(engine)
      await destination('proj_a', 'wh_1')
      const which = [{ project_id: 'proj_a', id: 'wh_1' }]
      const nothing: Settlement[] = [
        {
          project_id: 'proj_a',
          id: 'whs_none',
          claim_id: 'none',
          status: 'pending',
          slot: 0,
          first_attempt_at: null,
          next_attempt_at: 1,
          attempt: { number: 1, at: 1, duration_ms: 1, status: null, response_body: null, error: null },
        },
      ]
      const since = async () =>
        (await db.read<Tables>().selectFrom('destinations').select('failing_since').executeTakeFirstOrThrow())
          .failing_since
      await run({ settlements: nothing, failing: which })
      const first = await since()
      expect(first).not.toBeNull()
      await run({ settlements: nothing, failing: which })
      expect(await since()).toBe(first)
      await run({ settlements: nothing, recovered: which })
      expect(await since()).toBeNull()
    })
  })

  describe('held deliveries', () => {
    test('enabling a destination makes its held deliveries due, except those in flight', async () => {
      const { run, destination, event, relay, update, db, deliveries } = await prepared(engine)
      await destination('proj_a', 'wh_1')
      for (const id of ['evcus_1', 'evcus_2']) await event('proj_a', id)
      await relay()
      const later = (await storeTime(db)) + 3_600_000
      const [one, two] = await deliveries()
      await update('deliveries', { next_attempt_at: later }, one!.id)
      const leased = (await storeTime(db)) + LEASE_MS / 2
      await update('deliveries', { next_attempt_at: leased, claim_id: 'someone' }, two!.id)
      expect(await resumeHeld(db)).toBe(false)
      await update('destinations', { released_at: 1 })
      expect(await resumeHeld(db)).toBe(true)
      expect(eventsOf(await run())).toEqual(['evcus_1'])
      expect(await resumeHeld(db)).toBe(false)
    })
  })

  describe('the backlog', () => {
    test('the backlog counts due deliveries, but none that is held, claimed or done', async () => {
      const { run, destination, event, relay, update, db } = await prepared(engine)
      const backlog = async () => readBacklog(db, await storeTime(db))
      const dueOf = async () =>
        (await backlog()).destinations.map(({ projectId, id, due }) => [projectId, id, due])
      expect(await backlog()).toEqual({ due: 0, oldestDueAt: null, destinations: [] })
      await destination('proj_a', 'wh_1')
      await destination('proj_b', 'wh_2')
      for (const id of ['evcus_1', 'evcus_2']) await event('proj_a', id)
      await event('proj_b', 'evcus_3')
      await relay()
      const all = await backlog()
      expect(all.due).toBe(3)
      expect(all.oldestDueAt).toBeLessThanOrEqual(await storeTime(db))
      expect(all.oldestDueAt).toBe(Math.min(...all.destinations.map(({ oldestDueAt }) => oldestDueAt)))
      expect((await dueOf()).toSorted()).toEqual([
        ['proj_a', 'wh_1', 2],
        ['proj_b', 'wh_2', 1],
      ])
      await update('destinations', { active: 0 }, 'wh_2')
      expect([(await backlog()).due, await dueOf()]).toEqual([2, [['proj_a', 'wh_1', 2]]])
      await run({ claim: { limit: 1 } })
      expect((await backlog()).due).toBe(1)
    })

    test('a delivery is in flight while its claim lasts, and an event waits until it is relayed', async () => {
      const { run, destination, event, relay, db } = await prepared(engine)
      const counts = async () => [await countWaitingEvents(db), await countInFlight(db, await storeTime(db))]
      await destination('proj_a', 'wh_1')
      for (const id of ['evcus_1', 'evcus_2']) await event('proj_a', id)
      expect(await counts()).toEqual([2, 0])
      await relay()
      expect(await counts()).toEqual([0, 0])
      await run({ claim: { limit: 1 } })
      expect(await counts()).toEqual([0, 1])
      expect(await countInFlight(db, (await storeTime(db)) + LEASE_MS)).toBe(0)
    })
  })
})

const countBy = ({ deliveries }: Claimed): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(deliveries, ({ destination_id }) => destination_id)].map(([id, rows]) => [
      id,
      rows.length,
    ]),
  )
