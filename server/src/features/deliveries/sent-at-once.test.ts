import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
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
import { createDestination } from '../webhooks/create-destination.ts'
import { disableDestination } from '../webhooks/destination-changes.ts'
import type { DestinationTables } from '../webhooks/index.ts'
import type { DeliveryRow, DeliveryTables } from './delivery.ts'
import { listAttempts } from './delivery-record.store.ts'
import { Dispatcher } from './dispatcher.ts'
import { LEASE_MS } from './exchange.ts'
import { fanOut } from './fan-out.ts'
import type { Outlet } from './fan-out-batch.ts'
import { FIRST_MOST_MS } from './first-sends.ts'
import { makeDelivery } from './make-delivery.ts'
import { payloadOf } from './payload.ts'
import type { OutgoingDelivery, SendResult } from './send-delivery.ts'

const ACTOR = { type: 'system', id: 'test', address: null, requestId: null } as const
const KIND = 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED'
const DELIVERED: SendResult = {
  ...{ durationMs: 1, status: 204, responseBody: '', error: null, outcome: 'delivered', retryAfterMs: null },
}

const idsOf = (rows: readonly DeliveryRow[], wanted: string) =>
  rows.filter(({ status }) => status === wanted).map(({ id }) => id)

/** What is under way is written without waiting any longer. A timer may be up to a millisecond early. */
const untilDue = () => sleep(FIRST_MOST_MS + 2)

/** A worker whose sends end when they are told to. */
function newWorker(db: Database, result: SendResult | ((send: OutgoingDelivery) => SendResult) = DELIVERED) {
  const sent: string[] = []
  const bodies: Buffer[] = []
  let ends: (() => void)[] = []
  const metrics = createMetrics()
  const dispatcher = new Dispatcher({
    ...{ db, clock: systemClock, log: silentLog(), metrics, random: randomBytes, maySend: true },
    send: (send) =>
      new Promise((resolve) => {
        sent.push(send.deliveryId)
        bodies.push(Buffer.from(send.body()))
        const ending = typeof result === 'function' ? result(send) : result
        ends.push(() => resolve(ending))
      }),
  })
  return {
    dispatcher,
    sent,
    bodies,
    fanOut: (of = db, outlet: Outlet = dispatcher) =>
      fanOut({ db: of, random: randomBytes, clock: systemClock, outlet }),
    /** How many there were. */
    endAll(): number {
      const some = ends
      ends = []
      for (const end of some) end()
      return some.length
    },
    inFlight: () => Number(/^jeton_deliveries_in_flight (\d+)/m.exec(metrics.text())![1]),
    /** Also those that wait for the place of one that ends. */
    async endAllInTurn() {
      await expect
        .poll(() => {
          this.endAll()
          return this.inFlight()
        })
        .toBe(0)
    },
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
  const waiting = () => db.read<EventTables>().selectFrom('waiting_events').selectAll().execute()
  const attempts = async () => (await Promise.all((await rows()).map((row) => listAttempts(db, row)))).flat()
  /** As if it had been 20 seconds ago that they were given. */
  const endLeases = () =>
    db.transaction((tx) =>
      tx
        .write<EventTables>()
        .updateTable('waiting_events')
        .set(({ eb, ref }) => ({ free_at: eb(ref('free_at'), '-', LEASE_MS) }))
        .execute(),
    )
  /** Until each destination has all the places that it can have. */
  async function earnAll(worker: ReturnType<typeof newWorker>): Promise<void> {
    for (let i = 0; i < 5; i++) {
      await happen(1)
      await worker.fanOut()
      worker.endAll()
      await worker.dispatcher.run()
    }
  }
  const statuses = async () => (await rows()).map(({ status }) => status)

  /** A store by which nothing can be exchanged while it is broken; where it is mute, only its answers are lost. */
  function fragileStore({ isMute = false } = {}) {
    let isBroken = false
    const exchanging = <T>(run: (...parameters: never[]) => Promise<T>) =>
      (async (...parameters: never[]) => {
        if (!isBroken) return run(...parameters)
        if (isMute) await run(...parameters)
        throw new Error('no')
      }) as never as typeof run
    const fragile: Database =
      db.engine === 'sqlite'
        ? { ...db, runProgram: exchanging(db.runProgram) as never }
        : { ...db, runSql: exchanging(db.runSql) as never }
    return { fragile, broken: (is: boolean) => (isBroken = is) }
  }

  test('what there is room for is sent before it is written; the rest falls due', async () => {
    await subscribe()
    await happen(18)
    const worker = newWorker(db)
    expect(await worker.fanOut()).toMatchObject({ events: 18, kept: 16, left: 2 })
    // The others wait for how it goes.
    expect(worker.sent).toHaveLength(4)
    const due = await rows()
    expect(due).toHaveLength(2)
    for (const { claim_id, next_attempt_at, created_at } of due) {
      expect(claim_id).toBeNull()
      expect(next_attempt_at).toBeLessThanOrEqual(created_at)
    }
    const held = await waiting()
    expect(held).toHaveLength(16)
    expect(new Set(held.map(({ claim_id }) => claim_id)).size).toBe(1)
    await worker.endAllInTurn()
    expect(worker.sent).toHaveLength(16)
    await worker.finish()
    const written = await rows()
    expect(written.filter(({ status }) => status === 'pending').map(({ id }) => id)).toEqual(
      due.map(({ id }) => id),
    )
    expect(idsOf(written, 'delivered')).toEqual(worker.sent.toSorted())
    const ended = (await rows()).filter(({ first_attempt }) => first_attempt !== null)
    expect(ended.map(({ id }) => id)).toEqual(worker.sent.toSorted())
    expect([await waiting(), worker.inFlight()]).toEqual([[], 0])
  })

  test('there is no room for more while one destination has all that it can take, though others could begin', async () => {
    await subscribe()
    const worker = newWorker(db)
    const { dispatcher } = worker
    // Nobody has answered yet.
    expect([dispatcher.hasRoomFor(16), dispatcher.hasRoomFor(17)]).toEqual([true, false])
    await happen(400)
    for (let done = 0; done < 400; ) {
      done += worker.endAll()
      await worker.dispatcher.run()
      await worker.fanOut()
    }
    expect(dispatcher.hasRoomFor(768)).toBe(true)
    // Written first: what waits is given back after two seconds.
    await happen(832)
    for (const kept of [400, 400, 32]) expect(await worker.fanOut()).toMatchObject({ kept, left: 0 })
    expect([dispatcher.room, dispatcher.hasRoomFor(16)]).toEqual([0, false])
    worker.endAll()
    await expect.poll(() => dispatcher.hasRoomFor(16)).toBe(true)
    await worker.endAllInTurn()
    await worker.finish()
  })

  test('where one of its destinations has no room, all of an event is written first', async () => {
    const [busy] = [await subscribe(), await subscribe()]
    await happen(1)
    await fanOut({ db, random, clock: systemClock })
    await db.transaction((tx) =>
      tx.write<DeliveryTables>().deleteFrom('deliveries').where('destination_id', '<>', busy).execute(),
    )
    await happen(1)
    const worker = newWorker(db)
    expect(await worker.fanOut()).toMatchObject({ events: 1, kept: 1, left: 1 })
    const claimed = (await rows()).filter(({ claim_id }) => claim_id !== null)
    expect(claimed.map(({ id }) => id)).toEqual(worker.sent)
    expect(claimed[0]!.next_attempt_at! - claimed[0]!.created_at).toBe(LEASE_MS)
    expect(await waiting()).toEqual([])
    await worker.finish()
    expect(idsOf(await rows(), 'delivered')).toEqual(worker.sent)
  })

  test('what takes its time is on record while it does, claimed, and settled when it ends', async () => {
    await subscribe()
    await happen(2)
    const worker = newWorker(db)
    await worker.fanOut()
    await worker.dispatcher.run()
    expect(await rows()).toEqual([])
    await untilDue()
    await worker.dispatcher.run()
    const under = await rows()
    expect(under.map(({ id }) => id)).toEqual(worker.sent.toSorted())
    for (const { status, claim_id, attempts_made } of under)
      expect([status, claim_id, attempts_made]).toEqual(['pending', expect.any(String), 0])
    expect([await waiting(), await attempts()]).toEqual([[], []])
    await worker.finish()
    expect(await statuses()).toEqual(['delivered', 'delivered'])
    expect(await attempts()).toHaveLength(2)
  })

  test('how each of them ended is written with it: what failed falls due by the schedule', async () => {
    for (let i = 0; i < 3; i++) await subscribe()
    await happen(1)
    const worker = newWorker(db, ({ attempt }) => ({
      ...DELIVERED,
      ...(worker.sent.length === 2 &&
        attempt === 1 && { status: 500, outcome: 'failed', error: 'answered 500' }),
    }))
    await worker.fanOut()
    const failed = worker.sent[1]
    await worker.finish()
    for (const { id, ...row } of await rows()) {
      const place = id === failed ? ['pending', 1, null] : ['delivered', 0, expect.any(Number)]
      expect([row.status, row.slot, row.settled_at]).toEqual(place)
      expect([row.attempts_made, row.claim_id]).toEqual([1, null])
      expect(row.next_attempt_at === null).toBe(id !== failed)
    }
    expect(new Set((await attempts()).map(({ error }) => error))).toEqual(new Set([null, 'answered 500']))
  })

  test('who dies leaves a lease that ends: another sends the same ids, and what the dead one says is not heard', async () => {
    for (let i = 0; i < 2; i++) await subscribe()
    await happen(2)
    const [dead, other] = [newWorker(db), newWorker(db)]
    await dead.fanOut()
    expect(dead.sent).toHaveLength(4)
    expect(await other.fanOut()).toMatchObject({ events: 0 })
    await endLeases()
    expect(await other.fanOut()).toMatchObject({ events: 2, kept: 4 })
    expect(other.sent.toSorted()).toEqual(dead.sent.toSorted())
    await dead.finish()
    expect([await rows(), await attempts()]).toEqual([[], []])
    await other.finish()
    expect(idsOf(await rows(), 'delivered')).toEqual(other.sent.toSorted())
    expect(await attempts()).toHaveLength(4)
  })

  test('what is sent first is, byte for byte, what is written first', async () => {
    await subscribe()
    await happen(1)
    const worker = newWorker(db)
    await worker.fanOut()
    const [body] = worker.bodies
    await worker.finish()
    const [row] = await rows()
    const event = await findEvent(db, projectId, row!.event_id)
    expect(body!.toString()).toBe(payloadOf(row!, event!.data))
    const destination = await db
      .read<DestinationTables>()
      .selectFrom('destinations')
      .selectAll()
      .executeTakeFirstOrThrow()
    const { id, head, tail } = makeDelivery({ event: event!, destination, now: 1 }).delivery
    expect([row!.id, row!.head, row!.tail]).toEqual([id, head, tail])
  })

  test('a look that finds no event changes nothing about the time by which sends are settled', async () => {
    await subscribe()
    await happen(1)
    const worker = newWorker(db, { ...DELIVERED, status: 503, outcome: 'failed', retryAfterMs: 600_000 })
    await worker.fanOut()
    expect(await worker.fanOut()).toMatchObject({ events: 0, kept: 0, left: 0 })
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
    expect(await worker.fanOut()).toMatchObject({ events: 1, kept: 0, left: 1 })
    expect(worker.sent).toEqual([])
    await worker.finish()
  })

  test('a destination that is disabled is not sent anything, and what tells much is read when it is sent', async () => {
    const id = await subscribe()
    await disableDestination(deps(), { projectId, kind: 'webhook', id, actor: ACTOR })
    await happen(1)
    const worker = newWorker(db)
    expect(await worker.fanOut()).toMatchObject({ events: 1, kept: 0, left: 0 })
    await subscribe()
    await happen(1, { ...redemptionData(), much: 'x'.repeat(70_000) })
    expect(await worker.fanOut()).toMatchObject({ events: 1, kept: 0, left: 1 })
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
    for (const worker of workers) await worker.finish()
    expect(await rows()).toHaveLength(12)
    expect((await statuses()).filter((status) => status === 'delivered')).toHaveLength(sent.length)
    expect(workers.map((worker) => worker.inFlight())).toEqual([0, 0])
  })

  test('no more are in flight than may be, and who waits for a place of any kind gets one', async () => {
    for (let i = 0; i < 10; i++) await subscribe()
    const worker = newWorker(db)
    await earnAll(worker)
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

  test('what has ended and is not settled leaves less room, long before nothing more is sent at once', async () => {
    for (let i = 0; i < 10; i++) await subscribe()
    const worker = newWorker(db)
    await earnAll(worker)
    await happen(50)
    await worker.fanOut()
    await worker.endAllInTurn()
    await worker.dispatcher.run()
    await happen(200)
    // A store that is slow: nothing is settled meanwhile.
    for (let unsettled = 0; unsettled < 1_500; unsettled += 500) {
      expect(worker.dispatcher.hasRoomFor(500)).toBe(true)
      expect(await worker.fanOut()).toMatchObject({ events: 50, kept: 500 })
      for (let ended = 0; ended < 500; await setImmediate()) ended += worker.endAll()
    }
    expect(worker.dispatcher.room).toBeLessThanOrEqual(2_048 - 1_500)
    expect(worker.dispatcher.hasRoomFor(600)).toBe(false)
    await worker.dispatcher.run()
    expect(worker.dispatcher.hasRoomFor(600)).toBe(true)
    await worker.finish()
    expect(new Set(await statuses())).toEqual(new Set(['delivered']))
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
    expect(await worker.fanOut(db)).toMatchObject({ events: 1, kept: 0, left: 1 })
    broken(false)
    await worker.dispatcher.run()
    await happen(1)
    expect(await worker.fanOut(db)).toMatchObject({ events: 1, kept: 1, left: 0 })
    while ((await statuses()).includes('pending')) {
      worker.endAll()
      worker.dispatcher.look()
      await worker.dispatcher.run()
    }
    await worker.finish()
    expect(worker.sent).toHaveLength(3)
  })

  test('what ends while the store fails is settled with what it could not write', async () => {
    for (let i = 0; i < 2; i++) await subscribe()
    await happen(1)
    const { fragile, broken } = fragileStore()
    const worker = newWorker(fragile)
    await worker.fanOut(db)
    await untilDue()
    broken(true)
    const failed = expect(worker.dispatcher.run()).rejects.toThrow('no')
    worker.endAll()
    await failed
    await expect.poll(() => worker.inFlight()).toBe(0)
    broken(false)
    await worker.dispatcher.run()
    expect(await statuses()).toEqual(['delivered', 'delivered'])
    expect(await attempts()).toHaveLength(2)
    await worker.finish()
    expect(worker.sent).toHaveLength(2)
  })

  test('what ends after an exchange whose answer was lost is settled, and not sent again', async () => {
    for (let i = 0; i < 2; i++) await subscribe()
    await happen(1)
    const { fragile, broken } = fragileStore({ isMute: true })
    const worker = newWorker(fragile)
    await worker.fanOut(db)
    await untilDue()
    broken(true)
    await expect(worker.dispatcher.run()).rejects.toThrow('no')
    expect(await statuses()).toEqual(['pending', 'pending'])
    broken(false)
    worker.endAll()
    await expect.poll(() => worker.inFlight()).toBe(0)
    await worker.finish()
    expect(await statuses()).toEqual(['delivered', 'delivered'])
    expect(await attempts()).toHaveLength(2)
  })

  test('what a receiver says is kept as it said it', async () => {
    await subscribe()
    await happen(1)
    const said = 'a\x1fb\x1d "quoted" \\ 💶\r\n{"null": null}'
    const worker = newWorker(db, {
      ...DELIVERED,
      status: 500,
      responseBody: said,
      error: `no: ${said}`,
      outcome: 'failed',
    })
    await worker.fanOut()
    await worker.finish()
    expect(await attempts()).toMatchObject([{ status: 500, response_body: said, error: `no: ${said}` }])
  })

  test('a lease that another has just given is not over because its clock is ahead', async () => {
    await subscribe()
    await happen(2)
    const [one, other] = [newWorker(db), newWorker(db)]
    await one.fanOut()
    const late: Database = { ...db, now: async () => (await db.now()) - 5 }
    expect(await other.fanOut(late)).toMatchObject({ events: 0 })
    for (const worker of [one, other]) await worker.finish()
    expect(await attempts()).toHaveLength(2)
  })

  test('an event that one process takes twice, since a clock jumped, is written once and holds nothing up', async () => {
    await subscribe()
    await happen(3)
    const worker = newWorker(db)
    await worker.fanOut()
    await endLeases()
    expect(await worker.fanOut()).toMatchObject({ events: 3 })
    await worker.endAllInTurn()
    await worker.dispatcher.run()
    const began = performance.now()
    await worker.finish()
    // It waits for nothing: what takes its time to stop takes 8 s.
    expect(performance.now() - began).toBeLessThan(4_000)
    expect(await statuses()).toEqual(Array(3).fill('delivered'))
    expect(await waiting()).toEqual([])
    await happen(1)
    expect(await newWorker(db).fanOut()).toMatchObject({ events: 1, kept: 1 })
  })

  test('a quick receiver gets everything by the store until what it has there is gone, which is told', async () => {
    await subscribe()
    const worker = newWorker(db)
    await earnAll(worker)
    await happen(20)
    await fanOut({ db, random, clock: systemClock })
    await happen(16)
    expect(await worker.fanOut()).toMatchObject({ kept: 0, left: 16, leftToQuick: 16 })
    worker.dispatcher.look()
    await worker.dispatcher.run()
    await worker.endAllInTurn()
    await worker.dispatcher.run()
    expect(new Set(await statuses())).toEqual(new Set(['delivered']))
    await happen(16)
    expect(await worker.fanOut()).toMatchObject({ kept: 16, left: 0, leftToQuick: 0 })
    await worker.finish()
  })

  test('what waited too long is due again at once, though its event was not written yet', async () => {
    await subscribe()
    const worker = newWorker(db)
    await earnAll(worker)
    await happen(80)
    const { dispatcher } = worker
    // A store that took more than two seconds to say that it was done.
    const slow: Outlet = {
      keep: (sending) => dispatcher.keep(sending),
      isQuick: (destination) => dispatcher.isQuick(destination),
      letGo: (kept) => dispatcher.letGo(kept),
      beginKept: (kept, { now, at }) => dispatcher.beginKept(kept, { now, at: at - 2_500 }),
    }
    expect(await worker.fanOut(db, slow)).toMatchObject({ events: 80, kept: 80 })
    dispatcher.stopClaiming()
    await worker.finish()
    const unsent = (await rows()).filter(({ status }) => status === 'pending')
    expect(unsent.length).toBeGreaterThan(0)
    for (const { claim_id } of unsent) expect(claim_id).toBeNull()
  })

  test('what hangs while a worker stops is left as claimed, on record', async () => {
    await subscribe()
    await happen(1)
    const worker = newWorker(db)
    await worker.fanOut()
    worker.dispatcher.stopClaiming()
    const finished = worker.dispatcher.finish()
    await expect.poll(statuses).toEqual(['pending'])
    expect(await waiting()).toEqual([])
    worker.endAll()
    await finished
    expect(await statuses()).toEqual(['delivered'])
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
    const fail = () => Promise.reject(failing)
    const broken: Database = db.engine === 'sqlite' ? { ...db, runProgram: fail } : { ...db, runSql: fail }
    await expect(worker.fanOut(broken)).rejects.toBe(failing)
    expect([worker.sent, worker.inFlight(), await rows()]).toEqual([[], 0, []])
    expect(await worker.fanOut()).toMatchObject({ events: 3, kept: 3, left: 0 })
    expect(worker.sent).toHaveLength(3)
    await worker.finish()
    expect(await statuses()).toEqual(Array(3).fill('delivered'))
  })
})
