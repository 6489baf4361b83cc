import { beforeEach, expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { redemptionData } from '../../../test/reported-redemption.ts'
import { silentLog } from '../../../test/service.ts'
import { MIGRATIONS } from '../../app/migrations/index.ts'
import { systemClock } from '../../platform/clock.ts'
import { type Database, migrate } from '../../platform/database/index.ts'
import { createVault } from '../../platform/encryption.ts'
import { createMetrics } from '../../platform/metrics.ts'
import { createReach } from '../../platform/outbound/index.ts'
import { randomBytes } from '../../platform/secrets.ts'
import { writeEvent } from '../events/index.ts'
import { createProjectIn } from '../projects/index.ts'
import { createDestination } from '../webhooks/create-destination.ts'
import { disableDestination } from '../webhooks/destination-changes.ts'
import type { DeliveryTables } from './delivery.ts'
import { Dispatcher } from './dispatcher.ts'
import { LEASE_MS } from './exchange.ts'
import { fanOut } from './fan-out.ts'
import type { SendResult } from './send-delivery.ts'

const ACTOR = { type: 'system', id: 'test', address: null, requestId: null } as const
const KIND = 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED'
const DELIVERED: SendResult = {
  ...{ durationMs: 1, status: 204, responseBody: '', error: null, outcome: 'delivered', retryAfterMs: null },
}

/** A worker whose sends end when they are told to. */
function newWorker(db: Database, result = DELIVERED) {
  const sent: string[] = []
  let ends: (() => void)[] = []
  const metrics = createMetrics()
  const dispatcher = new Dispatcher({
    ...{ db, clock: systemClock, log: silentLog(), metrics, random: randomBytes, maySend: true },
    send: ({ deliveryId }) =>
      new Promise((resolve) => {
        sent.push(deliveryId)
        ends.push(() => resolve(result))
      }),
  })
  return {
    dispatcher,
    sent,
    fanOut: (of = db) => fanOut({ db: of, random: randomBytes, clock: systemClock, outlet: dispatcher }),
    /** How many there were. */
    endAll(): number {
      const some = ends
      ends = []
      for (const end of some) end()
      return some.length
    },
    inFlight: () => Number(/^jeton_deliveries_in_flight (\d+)/m.exec(metrics.text())![1]),
    async finish() {
      for (const end of ends) end()
      await dispatcher.finish()
    },
  }
}

eachEngine((engine) => {
  let db: Database
  let projectId: string
  const random = randomBytes

  beforeEach(async () => {
    db = await engine.open({ clock: systemClock })
    await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
    const fields = { name: 'Club', actor: ACTOR }
    projectId = (await db.transaction((tx) => createProjectIn({ random }, tx, fields))).id
  })

  const deps = () => ({
    ...{ db, random, vault: createVault(Buffer.alloc(32, 1), random), reach: createReach([]) },
  })
  const subscribe = async (): Promise<string> => {
    const fields = { target_url: 'https://hooks.example/in' }
    return (await createDestination(deps(), { projectId, kind: 'webhook', fields, actor: ACTOR })).row.id
  }
  const happen = (times: number, data: object = redemptionData()) =>
    db.transaction(async (tx) => {
      const source = { channel: 'API', apiKey: { name: 'pos', app_id: 'a' } } as const
      const about = { projectId, kind: KIND, entityId: 'cust_7', campaignId: null, groupId: 'v-1' } as const
      for (let i = 0; i < times; i++) await writeEvent({ random }, tx, { ...about, source, data })
    })
  const rows = () => db.read<DeliveryTables>().selectFrom('deliveries').selectAll().orderBy('id').execute()
  const statuses = async () => (await rows()).map(({ status }) => status)

  /** A store by which nothing can be exchanged while it is broken. */
  function fragileStore() {
    let isBroken = false
    const exchanging = <T>(run: (...parameters: never[]) => Promise<T>) =>
      ((...parameters: never[]) =>
        isBroken ? Promise.reject(new Error('no')) : run(...parameters)) as never as typeof run
    const fragile: Database =
      db.engine === 'sqlite'
        ? { ...db, runProgram: exchanging(db.runProgram) as never }
        : { ...db, runSql: exchanging(db.runSql) as never }
    return { fragile, broken: (is: boolean) => (isBroken = is) }
  }

  test('what there is room for is written as claimed and sent; the rest falls due', async () => {
    await subscribe()
    await happen(6)
    const worker = newWorker(db)
    expect(await worker.fanOut()).toEqual({ events: 6, kept: 4, left: 2 })
    const stored = await rows()
    const claimed = stored.filter(({ claim_id }) => claim_id !== null)
    expect(claimed.map(({ id }) => id).sort()).toEqual(worker.sent.toSorted())
    for (const { next_attempt_at, created_at } of claimed)
      expect(next_attempt_at! - created_at).toBe(LEASE_MS)
    for (const { claim_id, next_attempt_at, created_at } of stored)
      if (claim_id === null) expect(next_attempt_at).toBeLessThanOrEqual(created_at)
    await worker.finish()
    expect(await statuses()).toEqual(
      stored.map(({ claim_id }) => (claim_id === null ? 'pending' : 'delivered')),
    )
    expect(worker.inFlight()).toBe(0)
  })

  test('a look that finds no event changes nothing about the time by which sends are settled', async () => {
    await subscribe()
    await happen(1)
    const worker = newWorker(db, { ...DELIVERED, status: 503, outcome: 'failed', retryAfterMs: 600_000 })
    await worker.fanOut()
    expect(await worker.fanOut()).toEqual({ events: 0, kept: 0, left: 0 })
    await worker.finish()
    const [row] = await rows()
    expect(row!.next_attempt_at! - row!.first_attempt_at!).toBeGreaterThanOrEqual(600_000)
  })

  test('nobody is passed in the queue: who has something due gets nothing ahead of it', async () => {
    await subscribe()
    await happen(1)
    await fanOut({ db, random, clock: systemClock })
    await happen(1)
    const worker = newWorker(db)
    expect(await worker.fanOut()).toEqual({ events: 1, kept: 0, left: 1 })
    expect(worker.sent).toEqual([])
    await worker.finish()
  })

  test('a destination that is disabled is not sent anything, and what tells much is read when it is sent', async () => {
    const id = await subscribe()
    await disableDestination(deps(), { projectId, kind: 'webhook', id, actor: ACTOR })
    await happen(1)
    const worker = newWorker(db)
    expect(await worker.fanOut()).toEqual({ events: 1, kept: 0, left: 0 })
    await subscribe()
    await happen(1, { ...redemptionData(), much: 'x'.repeat(70_000) })
    expect(await worker.fanOut()).toEqual({ events: 1, kept: 0, left: 1 })
    expect(worker.sent).toEqual([])
    await worker.finish()
  })

  test('two that fan out the same events send each once, and both have all their places again', async () => {
    for (let i = 0; i < 3; i++) await subscribe()
    await happen(4)
    const workers = [newWorker(db), newWorker(db)]
    const made = await Promise.all(workers.map((worker) => worker.fanOut()))
    const sent = workers.flatMap((worker) => worker.sent)
    expect(new Set(sent).size).toBe(sent.length)
    expect(sent.length + made.reduce((sum, { left }) => sum + left, 0)).toBeGreaterThanOrEqual(12)
    expect(await rows()).toHaveLength(12)
    for (const worker of workers) await worker.finish()
    expect((await statuses()).filter((status) => status === 'delivered')).toHaveLength(sent.length)
    expect(workers.map((worker) => worker.inFlight())).toEqual([0, 0])
  })

  test('no more are in flight than may be, and who waits for a place of any kind gets one', async () => {
    for (let i = 0; i < 10; i++) await subscribe()
    const worker = newWorker(db)
    // Until each has earned all that it can.
    for (let i = 0; i < 5; i++) {
      await happen(1)
      await worker.fanOut()
      worker.endAll()
      await worker.dispatcher.run()
    }
    await happen(60)
    expect(await worker.fanOut()).toMatchObject({ events: 50, kept: 500 })
    expect(await worker.fanOut()).toMatchObject({ events: 10, kept: 100 })
    let most = 0
    for (let ended = 0; ended < 600; await worker.dispatcher.run()) {
      most = Math.max(most, worker.inFlight())
      ended += worker.endAll()
    }
    expect(most).toBe(512 - 64)
    await worker.finish()
    expect(new Set(await statuses())).toEqual(new Set(['delivered']))
    expect(new Set(worker.sent).size).toBe(650)
    expect(worker.sent).toHaveLength(650)
  })

  test('while nothing can be settled, nothing more is sent at once', async () => {
    await subscribe()
    await happen(1)
    const { fragile, broken } = fragileStore()
    const worker = newWorker(fragile)
    await worker.fanOut(db)
    broken(true)
    worker.endAll()
    await expect.poll(() => worker.inFlight()).toBe(0)
    await expect(worker.dispatcher.run()).rejects.toThrow('no')
    await happen(1)
    expect(await worker.fanOut(db)).toEqual({ events: 1, kept: 0, left: 1 })
    broken(false)
    await worker.dispatcher.run()
    await happen(1)
    expect(await worker.fanOut(db)).toEqual({ events: 1, kept: 1, left: 0 })
    while ((await statuses()).includes('pending')) {
      worker.endAll()
      worker.dispatcher.look()
      await worker.dispatcher.run()
    }
    await worker.finish()
    expect(worker.sent).toHaveLength(3)
  })

  test('a store that fails for a moment while a worker stops costs nothing', async () => {
    await subscribe()
    await happen(3)
    const { fragile, broken } = fragileStore()
    const worker = newWorker(fragile)
    await worker.fanOut(db)
    broken(true)
    setTimeout(broken, 300, false)
    await worker.finish()
    expect(await statuses()).toEqual(Array(3).fill('delivered'))
  })

  test('where it cannot be written nothing is sent, and the places are free again', async () => {
    await subscribe()
    await happen(3)
    const worker = newWorker(db)
    const failing = new Error('no')
    const broken: Database =
      db.engine === 'sqlite'
        ? { ...db, runProgram: () => Promise.reject(failing) }
        : {
            ...db,
            transaction: (work) =>
              db.transaction(async (tx) => {
                await work(tx)
                throw failing
              }),
          }
    await expect(worker.fanOut(broken)).rejects.toBe(failing)
    expect([worker.sent, worker.inFlight(), await rows()]).toEqual([[], 0, []])
    expect(await worker.fanOut()).toEqual({ events: 3, kept: 3, left: 0 })
    expect(worker.sent).toHaveLength(3)
    await worker.finish()
    expect(await statuses()).toEqual(Array(3).fill('delivered'))
  })
})
