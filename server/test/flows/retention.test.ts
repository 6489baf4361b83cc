import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRetention } from '../../src/features/deliveries/index.ts'
import { enqueueEvent } from '../../src/features/events/event.store.ts'
import { DELIVERED, type DeliveryRecord, EXHAUSTED, openRecord, type Wanted } from '../delivery-record.ts'
import { eachEngine } from '../engines.ts'
import { everythingIn, startTimedService, type TimedService } from '../timed-service.ts'

const DAYS = 7
/** A pass over all projects starts this long after the last one has ended. */
const PASS_EVERY_MS = 5 * 60_000
const DAY = 24 * 60 * 60_000
const ENV = {
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_RETENTION_DAYS: String(DAYS),
}

eachEngine((engine) => {
  let service: TimedService
  beforeAll(async () => {
    service = await startTimedService(engine, { env: ENV, worker: false })
  })
  afterAll(() => service.stop())

  /** Runs the background job of retention now. */
  const clean = () => createRetention({ db: service.service.db, days: DAYS }).run(service.clock.now())
  const old = () => service.clock.now() - DAYS * DAY - 1

  async function left({ projectId }: DeliveryRecord) {
    const all = await everythingIn(service.service.db)
    const of = (table: string) =>
      all[table]!.map((row) => JSON.parse(row)).filter(({ project_id }) => project_id === projectId)
    return {
      events: of('events').map(({ id }) => id),
      deliveries: of('deliveries').map(({ id }) => id),
      attempts: of('attempts').map(({ delivery_id }) => delivery_id),
      publications: of('publications').map(({ id }) => id),
    }
  }

  /** An event with a delivery, an attempt at it and a publication, all of one time. */
  async function written(record: DeliveryRecord, to: string, fields: Wanted, at = old()) {
    const event = await record.event({ created_at: at })
    const delivery = await record.delivery(to, { created_at: at, ...fields }, event)
    await record.attempt(delivery)
    return { event, delivery, publication: await record.publication(event) }
  }
  const whole = (...all: Awaited<ReturnType<typeof written>>[]) => ({
    events: all.map(({ event }) => event.id),
    deliveries: all.map(({ delivery }) => delivery.id),
    attempts: all.map(({ delivery }) => delivery.id),
    publications: all.map(({ publication }) => publication.id),
  })
  const sorted = (found: Awaited<ReturnType<typeof left>>) =>
    Object.fromEntries(Object.entries(found).map(([name, ids]) => [name, [...ids].sort()]))

  describe('what is older than JETON_RETENTION_DAYS', () => {
    test.each([
      ['delivered', DELIVERED],
      ['exhausted', EXHAUSTED],
    ])('an old delivery that %s is deleted with its attempts, event and publication', async (_, fields) => {
      const record = await openRecord(service)
      await written(record, await record.webhook(), fields)
      await clean()
      expect(await left(record)).toEqual({ events: [], deliveries: [], attempts: [], publications: [] })
    })

    test('old deliveries that wait, are claimed or are held stay with their events', async () => {
      const record = await openRecord(service)
      const [active, disabled] = [await record.webhook(), await record.webhook({ active: false })]
      const kept = [
        await written(record, active, { next_attempt_at: old() }),
        await written(record, active, { claim_id: 'claim', next_attempt_at: service.clock.now() + 20_000 }),
        await written(record, disabled, {}),
      ]
      await clean()
      expect(sorted(await left(record))).toEqual(sorted(whole(...kept)))
    })

    test('old cancelled deliveries are deleted', async () => {
      const record = await openRecord(service)
      const to = await record.webhook()
      await written(record, to, {})
      await service.manage('DELETE', `${record.path}/webhooks/${to}`)
      await clean()
      expect((await left(record)).events).toEqual([])
    })

    test('a delivery of exactly the maximum age stays', async () => {
      const record = await openRecord(service)
      const to = await record.webhook()
      const kept = await written(record, to, DELIVERED, old() + 1)
      await written(record, to, DELIVERED, old())
      await clean()
      expect(await left(record)).toEqual(whole(kept))
    })

    test('an old delivered delivery is deleted, while a held one of the same event stays', async () => {
      const record = await openRecord(service)
      const at = old()
      const event = await record.event({ created_at: at })
      const held = await record.delivery(await record.webhook({ active: false }), { created_at: at }, event)
      const got = await record.delivery(await record.webhook(), { ...DELIVERED, created_at: at }, event)
      await record.attempt(got)
      const { id } = await record.publication(event)
      await clean()
      expect(await left(record)).toEqual({
        events: [event.id],
        deliveries: [held.id],
        attempts: [],
        publications: [id],
      })
    })

    test('an old event stays while one of its deliveries is younger', async () => {
      const record = await openRecord(service)
      const event = await record.event({ created_at: old() })
      const young = await record.delivery(await record.webhook(), DELIVERED, event)
      await clean()
      expect(await left(record)).toMatchObject({ events: [event.id], deliveries: [young.id] })
    })

    test.each([
      ['delivered', DELIVERED],
      ['given up', EXHAUSTED],
    ])('an old delivery that was held is stored from the time when it was %s', async (_, fields) => {
      const record = await openRecord(service)
      const to = await record.webhook()
      const kept = await written(record, to, { ...fields, settled_at: old() + 1 })
      await written(record, to, { ...fields, settled_at: old() })
      await clean()
      expect(await left(record)).toEqual(whole(kept))
    })

    test('an old event that waits for its fan-out stays, and one without destinations is deleted', async () => {
      const record = await openRecord(service)
      const waiting = await record.event({ created_at: old() })
      await service.service.db.transaction((tx) => enqueueEvent(tx, waiting))
      await record.event({ created_at: old() })
      await clean()
      expect((await left(record)).events).toEqual([waiting.id])
    })

    test('the janitor deletes any number of old deliveries', async () => {
      const record = await openRecord(service)
      const to = await record.webhook()
      const at = old()
      const big = await record.event({ created_at: at })
      await record.deliveries(
        to,
        Array.from({ length: 1_201 }, () => ({ ...DELIVERED, created_at: at })),
        big,
      )
      for (let i = 0; i < 450; i++) await record.event({ created_at: at })
      const kept = await written(record, to, DELIVERED, service.clock.now())
      await clean()
      expect(await left(record)).toEqual(whole(kept))
    })

    test('the janitor finds old deliveries behind any number that must stay', async () => {
      const record = await openRecord(service)
      const held = await record.webhook({ active: false })
      const at = old() - 1_000
      const { db } = service.service
      const events = await Promise.all(
        Array.from({ length: 450 }, (_, i) => record.event({ created_at: at + i })),
      )
      for (const event of events) await record.delivery(held, { created_at: event.created_at }, event)
      const behind = await record.event({ created_at: old() })
      // One stretch at a time, as if there were many more of them.
      const retention = createRetention({ db, days: DAYS, batchesPerRun: 1 })
      const isThere = async (id: string) => (await left(record)).events.includes(id)
      for (let run = 0; run < 20 && (await isThere(behind.id)); run++)
        await retention.run(service.clock.now())
      expect(await isThere(behind.id)).toBe(false)
      expect((await left(record)).events).toHaveLength(450)

      const before = await record.event({ created_at: at - 1 })
      for (let run = 1; run <= 20 && (await isThere(before.id)); run++)
        await retention.run(service.clock.now() + run * PASS_EVERY_MS)
      expect(await isThere(before.id)).toBe(false)
    })

    test('retention reads every project again 5 minutes after it has removed everything, and not earlier', async () => {
      const record = await openRecord(service)
      const retention = createRetention({ db: service.service.db, days: DAYS })
      const now = service.clock.now()
      await retention.run(now)
      await record.event({ created_at: old() })
      await retention.run(now + PASS_EVERY_MS - 1)
      expect((await left(record)).events).toHaveLength(1)
      await retention.run(now + PASS_EVERY_MS)
      expect((await left(record)).events).toEqual([])
    })

    test('a clock that is set back delays no retention', async () => {
      const record = await openRecord(service)
      const retention = createRetention({ db: service.service.db, days: DAYS })
      const now = service.clock.now()
      await retention.run(now + 365 * 24 * 60 * 60_000)
      await record.event({ created_at: old() })
      await retention.run(now)
      expect((await left(record)).events).toEqual([])
    })
  })

  test('the janitor runs by itself', async () => {
    const record = await openRecord(service)
    const to = await record.webhook()
    const kept = await written(record, to, {}, service.clock.now())
    await written(record, to, DELIVERED, service.clock.now())
    await service.jump(DAYS * DAY + 60_000)
    await expect
      .poll(async () => {
        await service.advance(10_000)
        return left(record)
      })
      .toEqual(whole(kept))
  })

  test('deleting a project deletes all of its data, and nothing of another project', async () => {
    const [record, other] = [await openRecord(service, 'Short-lived'), await openRecord(service)]
    const kept = await written(other, await other.webhook(), DELIVERED, service.clock.now())
    const to = await record.webhook()
    await written(record, to, {}, service.clock.now())
    const { event } = await written(record, to, DELIVERED, service.clock.now())
    const many = await record.deliveries(
      to,
      Array.from({ length: 700 }, () => DELIVERED),
      event,
    )
    for (const number of [1, 2]) await record.attempt(many[0]!, { number })
    await service.manage('DELETE', record.path, { name: 'Short-lived' })
    expect((await service.manage('GET', `${record.path}/deliveries`)).status).toBe(404)
    await service.jump(16 * 60_000)
    await expect
      .poll(async () => {
        await service.advance(10_000)
        return left(record)
      })
      .toEqual({ events: [], deliveries: [], attempts: [], publications: [] })
    expect(await left(other)).toEqual(whole(kept))
  })
})
