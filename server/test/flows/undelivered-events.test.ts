import { afterAll, beforeAll, expect, test } from 'vitest'
import { DELIVERED, type DeliveryRecord, EXHAUSTED, openRecord } from '../delivery-record.ts'
import { eachEngine } from '../engines.ts'
import { ok, openShop } from '../loyalty.ts'
import { startTimedService, type TimedService } from '../timed-service.ts'

const ENV = { JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64') }

eachEngine((engine) => {
  let service: TimedService
  let now: number
  beforeAll(async () => {
    service = await startTimedService(engine, { env: ENV, worker: false })
    now = service.clock.now()
  })
  afterAll(() => service.stop())

  const list = (record: { path: string }, query = '') =>
    service.manage('GET', `${record.path}/events?undelivered=true${query}`)
  const idsIn = ({ body }: { body: { data: { id: string }[] } }) => body.data.map(({ id }) => id)

  /** Events whose deliveries to the destinations are in these states, oldest first. */
  async function eventsWith(record: DeliveryRecord, rows: readonly (readonly [string, object])[][]) {
    const events = []
    for (const [i, deliveries] of rows.entries()) {
      const event = await record.event({ created_at: now + i })
      for (const [to, fields] of deliveries)
        await record.delivery(to, { created_at: now + i, next_attempt_at: now + 60_000, ...fields }, event)
      events.push(event.id)
    }
    return events
  }

  test('events are listed while a delivery is pending, held or exhausted, each once, with counts by status', async () => {
    const own = await openRecord(service)
    const [a, b, disabled, deleted] = [
      await own.webhook(),
      await own.webhook(),
      await own.webhook(),
      await own.webhook(),
    ]
    const [pending, exhausted, held, , several, , mixed] = await eventsWith(own, [
      [[a, {}]],
      [[a, EXHAUSTED]],
      [[disabled, {}]],
      [[a, DELIVERED]],
      [
        [a, {}],
        [b, { attempts_made: 1 }],
        [disabled, EXHAUSTED],
      ],
      [[deleted, {}]],
      [
        [a, DELIVERED],
        [b, EXHAUSTED],
        [deleted, {}],
      ],
      [],
    ])
    await service.manage('POST', `${own.path}/webhooks/${disabled}/disable`)
    await service.manage('DELETE', `${own.path}/webhooks/${deleted}`)
    const all = [mixed, several, held, exhausted, pending]
    const answer = await list(own)
    expect([idsIn(answer), answer.body.total, answer.body.next_cursor]).toEqual([all, 5, null])
    const none = { pending: 0, failing: 0, delivered: 0, held: 0, exhausted: 0, cancelled: 0 }
    const counts = { ...none, delivered: 1, exhausted: 1, cancelled: 1 }
    expect(answer.body.data.slice(0, 2)).toMatchObject([
      { delivery_counts: counts },
      { delivery_counts: { ...none, pending: 2, failing: 1, exhausted: 1 } },
    ])
    const every = await service.manage('GET', `${own.path}/events?limit=2`)
    expect(every.body.data).toMatchObject([{ delivery_counts: none }, { delivery_counts: counts }])
    const one = await service.manage('GET', `${own.path}/events/${mixed}`)
    expect(one.body.delivery_counts).toEqual(counts)
    for (let limit = 1; limit <= 4; limit++) {
      const seen: string[] = []
      let cursor = ''
      do {
        const { body } = await list(own, `&limit=${limit}${cursor && `&cursor=${cursor}`}`)
        seen.push(...body.data.map(({ id }: { id: string }) => id))
        cursor = body.next_cursor
      } while (cursor)
      expect(seen, `by ${limit}`).toEqual(all)
    }
    expect(idsIn(await list(own, '&limit=2&page=2'))).toEqual([held, exhausted])
    const time = (ms: number) => new Date(ms).toISOString()
    expect(idsIn(await list(own, `&from=${time(now + 1)}&to=${time(now + 3)}`))).toEqual([held, exhausted])
    const without = await service.manage('GET', `${own.path}/events?undelivered=false`)
    expect(without.body.total).toBe(8)
    for (const other of ['&kind=webhook.test', '&entity=cust_7'])
      expect((await list(own, other)).body.message).toContain('cannot be combined')
  })

  test('an event to many destinations is read past on every page', async () => {
    const own = await openRecord(service)
    const to = await Promise.all(Array.from({ length: 90 }, () => own.webhook()))
    const failed = to.map((id) => [id, {}] as const)
    const events = await eventsWith(own, [failed, failed, failed])
    const first = await list(own, '&limit=2')
    expect([idsIn(first), first.body.total]).toEqual([[events[2], events[1]], 3])
    expect(idsIn(await list(own, `&limit=2&cursor=${first.body.next_cursor}`))).toEqual([events[0]])
  })

  test('events that wait for a worker are undelivered, too', async () => {
    const shop = await openShop(service)
    const path = `/projects/${shop.projectId}`
    const [card, reward] = [await shop.member(100), await shop.material({ price: 1 })]
    for (let i = 0; i < 3; i++) await ok(shop.redeem(card.code, reward.id))
    const answer = await list({ path }, '&limit=2')
    expect([answer.body.data.length, answer.body.total]).toEqual([2, 3])
    expect(answer.body.data.every(({ waiting }: { waiting: boolean }) => waiting)).toBe(true)
    const rest = await list({ path }, `&limit=2&cursor=${answer.body.next_cursor}`)
    expect(new Set([...idsIn(answer), ...idsIn(rest)]).size).toBe(3)
    expect(rest.body.next_cursor).toBe(null)
  })
})
