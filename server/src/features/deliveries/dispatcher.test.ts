import { expect, test, vi } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { silentLog } from '../../../test/service.ts'
import { TestClock } from '../../../test/test-clock.ts'
import { MIGRATIONS } from '../../app/migrations/index.ts'
import { type Database, migrate } from '../../platform/database/index.ts'
import { createMetrics } from '../../platform/metrics.ts'
import { randomBytes } from '../../platform/secrets.ts'
import type { DestinationTables } from '../webhooks/index.ts'
import type { DeliveryTables } from './delivery.ts'
import { Dispatcher } from './dispatcher.ts'
import { WALK_MOST } from './exchange.ts'
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

/** As many destinations, each with one delivery, or one with all of them, due at that time. */
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
        ? { ...db, runProgram: counting(db.runProgram) }
        : { ...db, runSql: counting(db.runSql) }
    const sent: OutgoingDelivery[] = []
    const dispatcher = new Dispatcher({
      ...{ db: counted, clock: new TestClock(Date.now()), log: silentLog(), metrics: createMetrics() },
      ...{ random: randomBytes, maySend: true },
      async send(delivery) {
        sent.push(delivery)
        return DELIVERED
      },
    })
    return { db, dispatcher, sent, exchanges: () => exchanges }
  }

  test('a run ends where nothing is due, however many queues wait', async () => {
    const { dispatcher, exchanges } = await prepared(WALK_MOST + 100, 9e15)
    await dispatcher.run()
    expect(exchanges()).toBe(2)
    // Nothing says that something has fallen due since.
    await dispatcher.run()
    expect(exchanges()).toBe(2)
    dispatcher.look()
    await dispatcher.run()
    expect(exchanges()).toBe(4)
  })

  test('every queue is served, however many there are', async () => {
    const { db, dispatcher, sent } = await prepared(700, 1)
    let wanted = true
    dispatcher.onEnded = () => (wanted = true)
    while (wanted) {
      wanted = false
      await dispatcher.run()
    }
    await dispatcher.finish()
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

  test('what is claimed ahead waits for a place, in order, and is given back where none comes in time', async () => {
    const { db } = await prepared(300, 1, true)
    const clock = new TestClock(Date.now())
    const begun: { id: string; end(): void }[] = []
    let holding = false
    const dispatcher = new Dispatcher({
      ...{ db, clock, log: silentLog(), metrics: createMetrics(), random: randomBytes, maySend: true },
      send: ({ deliveryId: id }) =>
        new Promise((resolve) => {
          const end = () => resolve(DELIVERED)
          begun.push({ id, end })
          if (!holding) end()
        }),
    })
    while (begun.length < 30) await dispatcher.run()
    holding = true
    await dispatcher.run()
    const first = begun.length
    expect(begun.map(({ id }) => id)).toEqual(begun.map(({ id }) => id).sort())
    // All that may be in flight are; the rest of the claim waits, and the next goes as one ends.
    begun.at(-1)!.end()
    await vi.waitFor(() => expect(begun).toHaveLength(first + 1))
    await clock.advance(2_001)
    begun.at(-2)!.end()
    await new Promise(setImmediate)
    expect(begun).toHaveLength(first + 1)
    // Dropped although none of its sends has ended: a receiver that hangs keeps nothing of it.
    dispatcher.stopClaiming()
    await dispatcher.run()
    const kept = begun.length
    holding = false
    for (const { end } of begun) end()
    await dispatcher.finish()
    expect(begun).toHaveLength(kept)
    const rows = await db.read<DeliveryTables>().selectFrom('deliveries').selectAll().execute()
    expect(rows.filter(({ status }) => status === 'delivered')).toHaveLength(kept)
    const back = rows.filter(({ status }) => status === 'pending')
    expect(back.length).toBeGreaterThan(0)
    expect(back.every(({ claim_id, next_attempt_at }) => claim_id === null && next_attempt_at === 1)).toBe(
      true,
    )
  })

  test('what throws where it should not is on record as not sent, and the rest goes on', async () => {
    const { db, dispatcher } = await prepared(3, 1)
    let calls = 0
    const broken = new Dispatcher({
      ...{ db, clock: new TestClock(Date.now()), log: silentLog(), metrics: createMetrics() },
      ...{ random: randomBytes, maySend: true },
      async send() {
        if (++calls === 1) throw new Error('a bug')
        return DELIVERED
      },
    })
    await broken.run()
    await broken.finish()
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
    await dispatcher.finish()
  })
})
