import { expect, test, vi } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { silentLog } from '../../../test/service.ts'
import { TestClock } from '../../../test/test-clock.ts'
import { MIGRATIONS } from '../../app/migrations/index.ts'
import { systemClock } from '../../platform/clock.ts'
import { type Database, migrate } from '../../platform/database/index.ts'
import { createMetrics } from '../../platform/metrics.ts'
import { randomBytes } from '../../platform/secrets.ts'
import { UsageCounter } from '../usage/index.ts'
import type { DestinationTables } from '../webhooks/index.ts'
import type { DeliveryTables } from './delivery.ts'
import { QUEUES_PER_CLAIM } from './delivery-queue.ts'
import { Dispatcher } from './dispatcher.ts'
import type { OutgoingDelivery, SendResult } from './send-delivery.ts'

const DELIVERED: SendResult = {
  durationMs: 1,
  status: 204,
  responseBody: '',
  error: null,
  outcome: 'delivered',
  retryAfterMs: null,
}

const name = (i: number) => String(i).padStart(5, '0')

/** Inserts this many destinations with one delivery each, or one destination with all of them. */
async function fill(db: Database, queues: number, due: number, oneQueue = false): Promise<void> {
  const numbers = Array.from({ length: queues }, (_, i) => i)
  await db.transaction(async (tx) => {
    const write = tx.write<DestinationTables & DeliveryTables & { events: object }>()
    await write
      .insertInto('events')
      .values({
        ...{
          project_id: 'proj_a',
          id: 'evcus_1',
          kind: 'webhook.test',
          version: '2024-01-01',
          entity_id: 'x',
        },
        ...{ channel: 'API', data: '{"a":1}', occurred_at: 1, created_at: 1 },
      } as never)
      .execute()
    for (let from = 0; from < queues; from += 500) {
      const some = numbers.slice(from, from + 500)
      await write
        .insertInto('destinations')
        .values(
          some.map((i) => ({
            ...{
              project_id: 'proj_a',
              id: `wh_${name(i)}`,
              kind: 'webhook' as const,
              headers: '{}',
              events: '[]',
            },
            ...{ target_url: 'https://hooks.example/', active: 1, secret: '', secret_last4: '', skips: '[]' },
            ...{ created_at: 1, updated_at: 1 },
          })) as never,
        )
        .execute()
      await write
        .insertInto('deliveries')
        .values(
          some.map((i) => ({
            ...{
              project_id: 'proj_a',
              id: `whs_${name(i)}`,
              event_id: 'evcus_1',
              destination_id: `wh_${name(oneQueue ? 0 : i)}`,
            },
            ...{ status: 'pending' as const, head: '{"data":', tail: '}}', attempts_made: 0, slot: 0 },
            ...{ next_attempt_at: due, created_at: 1 },
          })) as never,
        )
        .execute()
    }
  })
}

eachEngine((engine) => {
  async function prepared(queues: number, due: number, oneQueue = false) {
    const db = await engine.open()
    await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
    await fill(db, queues, due, oneQueue)
    let exchanges = 0
    const counting = (run: (...parameters: never[]) => Promise<unknown>) =>
      ((...parameters: never[]) => {
        exchanges++
        return run(...parameters)
      }) as never
    const counted: Database =
      db.engine === 'sqlite'
        ? { ...db, runInWriter: counting(db.runInWriter) }
        : { ...db, withConnection: counting(db.withConnection) }
    const sent: OutgoingDelivery[] = []
    const dispatcher = new Dispatcher({
      ...{
        db: counted,
        clock: new TestClock(Date.now()),
        log: silentLog(),
        metrics: createMetrics(),
        usage: new UsageCounter(systemClock, createMetrics()),
      },
      ...{ random: randomBytes, canSign: true },
      async send(delivery) {
        sent.push(delivery)
        return DELIVERED
      },
    })
    return { db, dispatcher, sent, exchanges: () => exchanges }
  }

  test('a run ends when nothing is due, for any number of queues', async () => {
    const { dispatcher, exchanges } = await prepared(QUEUES_PER_CLAIM + 100, 9e15)
    await dispatcher.run()
    expect(exchanges()).toBe(2)
    // No notification has arrived since.
    await dispatcher.run()
    expect(exchanges()).toBe(2)
    dispatcher.notifyDue()
    await dispatcher.run()
    expect(exchanges()).toBe(4)
  })

  test('every queue is served, for any number of queues', async () => {
    const { db, dispatcher, sent } = await prepared(700, 1)
    let wanted = true
    dispatcher.onFlushDue = () => (wanted = true)
    await vi.waitFor(async () => {
      if (wanted) {
        wanted = false
        await dispatcher.run()
      }
      expect(sent).toHaveLength(700)
    }, 20_000)
    await dispatcher.drainAndStop()
    expect(new Set(sent.map(({ deliveryId }) => deliveryId)).size).toBe(700)
    expect(sent).toHaveLength(700)
    const left = await db
      .read<DeliveryTables>()
      .selectFrom('deliveries')
      .select('id')
      .where('status', '<>', 'delivered')
      .execute()
    expect(left).toEqual([])
  })

  test('a buffered delivery starts in order when a permit is free, and is released after 2 s', async () => {
    const { db } = await prepared(300, 1, true)
    const clock = new TestClock(Date.now())
    const started: { id: string; end(): void }[] = []
    let isHolding = false
    const dispatcher = new Dispatcher({
      ...{
        db,
        clock,
        log: silentLog(),
        metrics: createMetrics(),
        usage: new UsageCounter(systemClock, createMetrics()),
        random: randomBytes,
        canSign: true,
      },
      send: ({ deliveryId: id }) =>
        new Promise((resolve) => {
          const end = () => resolve(DELIVERED)
          started.push({ id, end })
          if (!isHolding) end()
        }),
    })
    await dispatcher.run()
    await vi.waitFor(() => expect(started).toHaveLength(4))
    isHolding = true
    await dispatcher.run()
    // 64 in flight is the limit of a healthy destination; the rest of the claim is buffered.
    await vi.waitFor(() => expect(started).toHaveLength(4 + 64))
    expect(dispatcher.bufferedCount).toBe(64)
    started.at(-1)!.end()
    await vi.waitFor(() => expect(started).toHaveLength(4 + 65))
    expect(started.map(({ id }) => id)).toEqual(started.map(({ id }) => id).sort())
    await clock.advance(2_001)
    started.at(-2)!.end()
    await dispatcher.run()
    expect([started.length, dispatcher.bufferedCount]).toEqual([4 + 65, 0])
    isHolding = false
    for (const { end } of started) end()
    await dispatcher.drainAndStop()
    expect(started).toHaveLength(4 + 65)
    const rows = await db.read<DeliveryTables>().selectFrom('deliveries').selectAll().execute()
    expect(rows.filter(({ status }) => status === 'delivered')).toHaveLength(4 + 65)
    const pending = rows.filter(({ status }) => status === 'pending')
    // A delivery that was never tried keeps its position in the queue.
    expect(pending.every((row) => row.claim_id === null && row.next_attempt_at === 1)).toBe(true)
  })

  test('while the store is down, released claims are not retried in a loop', async () => {
    const { db } = await prepared(300, 1, true)
    const clock = new TestClock(Date.now())
    let [isBroken, failures, flushes] = [false, 0, 0]
    const failing = (run: (...parameters: never[]) => Promise<unknown>) =>
      (async (...parameters: never[]) => {
        if (!isBroken) return run(...parameters)
        failures++
        throw new Error('no')
      }) as never
    const fragile: Database =
      db.engine === 'sqlite'
        ? { ...db, runInWriter: failing(db.runInWriter) }
        : { ...db, withConnection: failing(db.withConnection) }
    const dispatcher = new Dispatcher({
      ...{
        db: fragile,
        clock,
        log: silentLog(),
        metrics: createMetrics(),
        usage: new UsageCounter(systemClock, createMetrics()),
      },
      ...{ random: randomBytes, canSign: true },
      send: async () => DELIVERED,
    })
    dispatcher.onFlushDue = () => flushes++
    await dispatcher.run()
    isBroken = true
    await clock.advance(2_001)
    for (let i = 0; i < 3; i++) await dispatcher.run().catch(() => undefined)
    expect(failures).toBe(3)
    const before = flushes
    for (let i = 0; i < 10; i++) await dispatcher.run().catch(() => undefined)
    expect(flushes).toBe(before)
  })

  test('without the encryption key nothing is claimed', async () => {
    const { db } = await prepared(3, 1)
    const dispatcher = new Dispatcher({
      ...{
        db,
        clock: new TestClock(Date.now()),
        log: silentLog(),
        metrics: createMetrics(),
        usage: new UsageCounter(systemClock, createMetrics()),
      },
      ...{ random: randomBytes, canSign: false },
      send: () => Promise.reject(new Error('must not be called')),
    })
    await dispatcher.run()
    expect(dispatcher.capacities().total).toBe(0)
    const rows = await db.read<DeliveryTables>().selectFrom('deliveries').selectAll().execute()
    expect(rows.every(({ claim_id }) => claim_id === null)).toBe(true)
  })

  test('a bug while sending is recorded as not sent, and the other deliveries are sent', async () => {
    const { db, dispatcher } = await prepared(3, 1)
    let calls = 0
    const broken = new Dispatcher({
      ...{
        db,
        clock: new TestClock(Date.now()),
        log: silentLog(),
        metrics: createMetrics(),
        usage: new UsageCounter(systemClock, createMetrics()),
      },
      ...{ random: randomBytes, canSign: true },
      async send() {
        if (++calls === 1) throw new Error('a bug')
        return DELIVERED
      },
    })
    await broken.run()
    await vi.waitFor(() => expect(calls).toBe(3))
    await broken.drainAndStop()
    const rows = await db.read<DeliveryTables>().selectFrom('deliveries').selectAll().orderBy('id').execute()
    expect(rows.map(({ status }) => status)).toEqual(['pending', 'delivered', 'delivered'])
    const [attempt] = await db
      .read<DeliveryTables>()
      .selectFrom('attempts')
      .selectAll()
      .where('delivery_id', '=', rows[0]!.id)
      .execute()
    expect(attempt!.error).toMatch(/^not sent/)
    expect(attempt!.error).not.toContain('a bug')
    await dispatcher.drainAndStop()
  })
})
