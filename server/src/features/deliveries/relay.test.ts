import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { redemptionData } from '../../../test/reported-redemption.ts'
import { silentLog } from '../../../test/service.ts'
import { MIGRATIONS } from '../../app/migrations/index.ts'
import { systemClock } from '../../platform/clock.ts'
import { type Database, migrate } from '../../platform/database/index.ts'
import { createVault } from '../../platform/encryption.ts'
import { createMetrics } from '../../platform/metrics.ts'
import { createEgressPolicy } from '../../platform/outbound/index.ts'
import { randomBytes } from '../../platform/secrets.ts'
import { type EventTables, findEvent, writeEvent } from '../events/index.ts'
import { createProjectIn } from '../projects/index.ts'
import { UsageCounter } from '../usage/index.ts'
import { createDestination } from '../webhooks/create-destination.ts'
import { disableDestination } from '../webhooks/destination-changes.ts'
import type { DeliveryTables } from './delivery.ts'
import { LEASE_MS } from './delivery-queue.ts'
import { Dispatcher } from './dispatcher.ts'
import { payloadOf } from './payload.ts'
import { Relay } from './relay.ts'
import type { OutgoingDelivery, SendResult } from './send-delivery.ts'

const ACTOR = { type: 'system', id: 'test', address: null, requestId: null } as const
const KIND = 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED'
const DELIVERED: SendResult = {
  ...{ durationMs: 1, status: 204, responseBody: '', error: null, outcome: 'delivered', retryAfterMs: null },
}
const random = randomBytes

/** A worker whose sends end when the test says so, unless `isQuick`. */
function newWorker(db: Database, { relayDb = db, isQuick = false } = {}) {
  const sent: OutgoingDelivery[] = []
  let pending: (() => void)[] = []
  const waits: number[] = []
  const metrics = createMetrics()
  const dispatcher = new Dispatcher({
    ...{
      db,
      clock: systemClock,
      log: silentLog(),
      metrics,
      usage: new UsageCounter(systemClock, metrics),
      random,
      canSign: true,
    },
    send: (delivery) =>
      new Promise((resolve) => {
        sent.push(delivery)
        if (isQuick) resolve(DELIVERED)
        else pending.push(() => resolve(DELIVERED))
      }),
  })
  const { waitUntil } = dispatcher
  dispatcher.waitUntil = (isReady, maxMs) => {
    waits.push(maxMs)
    return waitUntil.call(dispatcher, isReady, maxMs)
  }
  const relay = new Relay({ db: relayDb, clock: systemClock, random, dispatcher })
  return {
    dispatcher,
    sent,
    waits,
    relay: () => relay.run(),
    sentIds: () => sent.map(({ deliveryId }) => deliveryId).toSorted(),
    sends: (count: number) => expect.poll(() => sent.length).toBe(count),
    endAll() {
      const some = pending
      pending = []
      for (const end of some) end()
    },
    inFlight: () => Number(/^jeton_deliveries_in_flight (\d+)/m.exec(metrics.text())![1]),
    async stop() {
      this.endAll()
      await dispatcher.drainAndStop()
    },
  }
}

eachEngine((engine) => {
  let db: Database
  let projectId: string

  beforeEach(async () => {
    db = await engine.open({ clock: systemClock })
    await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
    const fields = { name: 'Club', actor: ACTOR }
    projectId = (await db.transaction((tx) => createProjectIn({ random }, tx, fields))).id
  })

  const deps = () => ({
    ...{ db, random, vault: createVault(Buffer.alloc(32, 1), random), egressPolicy: createEgressPolicy([]) },
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
  const outbox = () => db.read<EventTables>().selectFrom('outbox').select('event_id').execute()
  const attempts = () => db.read<DeliveryTables>().selectFrom('attempts').selectAll().execute()
  const statuses = async () => (await rows()).map(({ status }) => status)
  const claimedCount = async () => (await rows()).filter(({ claim_id }) => claim_id !== null).length
  const endLeases = () =>
    db.transaction((tx) =>
      tx.write<DeliveryTables>().updateTable('deliveries').set({ next_attempt_at: 1 }).execute(),
    )

  /** A database whose exchanges fail while it is broken. If `isMute`, they succeed but the response is lost. */
  function fragileDatabase({ isMute = false } = {}) {
    let isBroken = false
    const breakable = <T>(run: (...parameters: never[]) => Promise<T>) =>
      (async (...parameters: never[]) => {
        if (!isBroken) return run(...parameters)
        if (isMute) await run(...parameters)
        throw new Error('no')
      }) as never
    const fragile: Database =
      db.engine === 'sqlite'
        ? { ...db, runInWriter: breakable(db.runInWriter) }
        : {
            ...db,
            withConnection: breakable(db.withConnection),
            transaction: breakable(db.transaction as never),
          }
    return { fragile, setBroken: (broken: boolean) => (isBroken = broken) }
  }

  test('a delivery is stored as claimed and sent if its destination has capacity; the rest is due', async () => {
    await subscribe()
    await happen(6)
    const worker = newWorker(db)
    await worker.relay()
    expect([await outbox(), await claimedCount()]).toEqual([[], 4])
    await worker.sends(4)
    const stored = await rows()
    const claimed = stored.filter(({ claim_id }) => claim_id !== null)
    expect(worker.sentIds()).toEqual(claimed.map(({ id }) => id))
    expect(claimed.every(({ next_attempt_at }) => next_attempt_at! > Date.now() + LEASE_MS - 10_000)).toBe(
      true,
    )
    await worker.stop()
    expect((await statuses()).toSorted()).toEqual([...Array(4).fill('delivered'), 'pending', 'pending'])
    expect(await attempts()).toHaveLength(4)
  })

  test('the bytes that are sent are those that are stored', async () => {
    await subscribe()
    await happen(1)
    const worker = newWorker(db)
    await worker.relay()
    await worker.sends(1)
    await worker.stop()
    const [row] = await rows()
    const event = await findEvent(db, projectId, row!.event_id)
    expect(worker.sent[0]!.body.toString()).toBe(payloadOf(row!, event!.data))
  })

  test('after a crash another worker sends the same ids, and the late result of the first changes nothing', async () => {
    for (let i = 0; i < 2; i++) await subscribe()
    await happen(2)
    const [crashed, other] = [newWorker(db), newWorker(db)]
    await crashed.relay()
    await crashed.sends(4)
    await other.dispatcher.run()
    expect(other.sent).toEqual([])
    await endLeases()
    other.dispatcher.notifyDue()
    await other.dispatcher.run()
    await other.sends(4)
    expect(other.sentIds()).toEqual(crashed.sentIds())
    await crashed.stop()
    expect([await statuses(), await attempts()]).toEqual([Array(4).fill('pending'), []])
    await other.stop()
    expect(await statuses()).toEqual(Array(4).fill('delivered'))
    expect(await attempts()).toHaveLength(4)
  })

  test('a destination with due deliveries gets nothing ahead of them', async () => {
    await subscribe()
    await happen(5)
    const first = newWorker(db)
    await first.relay()
    await first.sends(4)
    await happen(1)
    const second = newWorker(db)
    await second.relay()
    expect([second.dispatcher.bufferedCount, await claimedCount()]).toEqual([0, 4])
    await Promise.all([first.stop(), second.stop()])
    expect(second.sent).toEqual([])
  })

  test('deliveries of a disabled destination and of a long event are stored and not claimed', async () => {
    const id = await subscribe()
    await disableDestination(deps(), { projectId, kind: 'webhook', id, actor: ACTOR })
    await happen(1)
    const worker = newWorker(db)
    await worker.relay()
    await subscribe()
    await happen(1, { ...redemptionData(), long: 'x'.repeat(70_000) })
    await worker.relay()
    expect([(await rows()).length, await claimedCount()]).toEqual([3, 0])
    await worker.stop()
    expect(worker.sent).toEqual([])
  })

  test('two workers that relay at the same moment send each delivery once', async () => {
    for (let i = 0; i < 3; i++) await subscribe()
    await happen(4)
    const workers = [newWorker(db), newWorker(db)]
    await Promise.all(workers.map((worker) => worker.relay()))
    const sentIds = () => workers.flatMap((worker) => worker.sentIds()).toSorted()
    await expect.poll(() => sentIds().length).toBe(12)
    expect(sentIds()).toEqual((await rows()).map(({ id }) => id))
    await Promise.all(workers.map((worker) => worker.stop()))
    expect(await statuses()).toEqual(Array(12).fill('delivered'))
  })

  test('the relay never waits when the outbox is empty after a batch', async () => {
    await subscribe()
    await happen(3)
    const worker = newWorker(db)
    await worker.relay()
    expect(worker.waits).toEqual([])
    await worker.stop()
  })

  test('backpressure never slows the relay below 4,000 deliveries per second', async () => {
    for (let i = 0; i < 2; i++) await subscribe()
    await happen(600)
    // No send ends, so the relay waits for as long as it is allowed to.
    const worker = newWorker(db)
    await worker.relay()
    expect(await outbox()).toEqual([])
    expect(worker.waits.length).toBeGreaterThan(0)
    for (const ms of worker.waits) expect(ms).toBeLessThanOrEqual(500 / 4)
    await worker.stop()
  })

  test('the relay continues after a batch that reached the byte limit', async () => {
    await subscribe()
    await happen(20, { ...redemptionData(), long: 'x'.repeat(1024 * 1024) })
    const worker = newWorker(db)
    await worker.relay()
    expect(await outbox()).toEqual([])
    await worker.stop()
  })

  test('a healthy destination is sent to without claims once it has no backlog', async () => {
    await subscribe()
    const worker = newWorker(db, { isQuick: true })
    await happen(1)
    await worker.relay()
    await worker.sends(1)
    await worker.dispatcher.run()
    await happen(200)
    await worker.relay()
    expect(await claimedCount()).toBe(200)
    await worker.sends(201)
    await worker.stop()
    expect(await statuses()).toEqual(Array(201).fill('delivered'))
  })

  test('while the store fails, nothing is relayed or started, and results are settled afterwards', async () => {
    await subscribe()
    await happen(1)
    const { fragile, setBroken } = fragileDatabase()
    const worker = newWorker(fragile, { relayDb: db })
    await worker.relay()
    await worker.sends(1)
    setBroken(true)
    worker.endAll()
    await expect.poll(() => worker.inFlight()).toBe(0)
    await expect(worker.dispatcher.run()).rejects.toThrow('no')
    await happen(1)
    await worker.relay()
    expect([(await outbox()).length, worker.sent.length]).toEqual([1, 1])
    setBroken(false)
    await worker.dispatcher.run()
    expect(await statuses()).toEqual(['delivered'])
    await worker.relay()
    await worker.sends(2)
    await worker.stop()
    expect(await statuses()).toEqual(['delivered', 'delivered'])
    expect(await attempts()).toHaveLength(2)
  })

  test('an idle worker resumes after the store failed once, with nothing in flight', async () => {
    await subscribe()
    const { fragile, setBroken } = fragileDatabase()
    const worker = newWorker(fragile, { relayDb: db })
    setBroken(true)
    await expect(worker.dispatcher.run()).rejects.toThrow('no')
    expect(worker.dispatcher.isStoreDown).toBe(true)
    setBroken(false)
    await worker.dispatcher.run()
    await happen(1)
    await worker.relay()
    await worker.sends(1)
    await worker.stop()
    expect(await statuses()).toEqual(['delivered'])
  })

  test('a result whose settlement was stored but not acknowledged is recorded once', async () => {
    await subscribe()
    await happen(1)
    const { fragile, setBroken } = fragileDatabase({ isMute: true })
    const worker = newWorker(fragile, { relayDb: db })
    await worker.relay()
    await worker.sends(1)
    worker.endAll()
    await expect.poll(() => worker.inFlight()).toBe(0)
    setBroken(true)
    await expect(worker.dispatcher.run()).rejects.toThrow('no')
    setBroken(false)
    await worker.stop()
    expect([await statuses(), (await attempts()).length]).toEqual([['delivered'], 1])
  })

  test('if the relay cannot write, nothing is sent and the events stay in the outbox', async () => {
    await subscribe()
    await happen(3)
    const { fragile, setBroken } = fragileDatabase()
    const worker = newWorker(db, { relayDb: fragile })
    setBroken(true)
    await expect(worker.relay()).rejects.toThrow('no')
    await sleep(20)
    expect([worker.sent, await rows(), (await outbox()).length]).toEqual([[], [], 3])
    setBroken(false)
    await worker.relay()
    await worker.sends(3)
    await worker.stop()
    expect(await statuses()).toEqual(Array(3).fill('delivered'))
  })

  test('shutdown releases buffered deliveries, waits for sends in flight, and survives a failing store', async () => {
    for (let i = 0; i < 2; i++) await subscribe()
    await happen(3)
    const { fragile, setBroken } = fragileDatabase()
    const worker = newWorker(fragile, { relayDb: db })
    await worker.relay()
    await worker.sends(6)
    const stopped = worker.dispatcher.drainAndStop()
    setBroken(true)
    setTimeout(setBroken, 300, false)
    worker.endAll()
    await stopped
    expect(await statuses()).toEqual(Array(6).fill('delivered'))
  })
})
