import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Attempt, DeliveryRow, DeliveryTables } from '../../src/features/deliveries/delivery.ts'
import { listAttempts } from '../../src/features/deliveries/delivery-record.store.ts'
import { eachEngine } from '../engines.ts'
import { apiOf, ok, openShop } from '../loyalty.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { redemptionData } from '../reported-redemption.ts'
import { startService } from '../service.ts'
import { TestClock } from '../test-clock.ts'
import { startTimedService, type TimedService } from '../timed-service.ts'

const KEY = Buffer.alloc(32, 9).toString('base64')
const ENV = { JETON_ENCRYPTION_KEY: KEY, JETON_WEBHOOK_ALLOW: '127.0.0.0/8' }
const KIND = 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED'
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const SLOT_MINUTES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1440]

eachEngine((engine) => {
  let service: TimedService
  let receiver: Receiver
  let projects = 0

  beforeAll(async () => {
    service = await startTimedService(engine, { env: ENV })
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    receiver = await startReceiver()
  })
  afterEach(() => receiver.close())

  /** A project that reports its redemptions, with a webhook that leads to the receiver. */
  async function subscribed(fields: object = {}) {
    const project = await service.project(`deliveries ${++projects}`)
    const path = `/projects/${project.id}`
    const call = apiOf(service.url, await service.key(project.id))
    const webhook = await service.manage('POST', `${path}/webhooks`, {
      target_url: receiver.url,
      events: [KIND],
      ...fields,
    })
    expect(webhook.status, webhook.text).toBe(201)
    let reports = 0
    return {
      path,
      projectId: project.id,
      webhook: webhook.body as { id: string; secret: string },
      webhookPath: `${path}/webhooks/${webhook.body.id}`,
      /** Something happens; the id of its event. */
      async happen(): Promise<string> {
        const body = { source_id: `r-${++reports}`, data: redemptionData() }
        return (await ok(call('POST', '/redemptions/rewards', body))).event_id
      },
    }
  }

  const rowsOf = (projectId: string): Promise<DeliveryRow[]> =>
    service.service.db
      .read<DeliveryTables>()
      .selectFrom('deliveries')
      .selectAll()
      .where('project_id', '=', projectId)
      .orderBy('created_at')
      .execute()

  const attemptsOf = async (projectId: string): Promise<Attempt[]> => {
    const rows = await rowsOf(projectId)
    return (await Promise.all(rows.map((row) => listAttempts(service.service.db, row)))).flat()
  }

  /** Once the store says so: what was sent has then been settled. */
  async function stored(
    projectId: string,
    holds: (row: DeliveryRow) => boolean,
    deliveries = 1,
  ): Promise<DeliveryRow> {
    for (;;) {
      const rows = await rowsOf(projectId)
      if (rows.length >= deliveries && rows.every(holds)) return rows[0]!
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  const attempted = (projectId: string, times: number) =>
    stored(projectId, (row) => row.attempts_made === times && row.claim_id === null)

  /**
   * Moves the time by half a second at a time, so that the worker polls, until the condition holds. Never faster than the
   * store: on a slow disk a lease would end before the claim has been committed.
   */
  async function poll<T>(wanted: Promise<T>): Promise<T> {
    let over = false
    void wanted.finally(() => (over = true))
    while (!over) {
      await service.advance(500)
      await service.service.db.transaction((tx) => tx.now())
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    return wanted
  }

  const goTo = (time: number) => service.jump(time - service.clock.now())

  describe('an event', () => {
    test('the event of a redemption reaches the webhook and the distribution of its campaign, and both record it', async () => {
      const shop = await openShop(service)
      const path = `/projects/${shop.projectId}`
      const make = async (kind: string, fields: object) =>
        (await service.manage('POST', `${path}/${kind}s`, { target_url: receiver.url, ...fields })).body.id
      const webhook = await make('webhook', { events: [KIND] })
      const distribution = await make('distribution', {
        name: 'CRM',
        campaign_id: shop.campaign.id,
        event_name: 'club.redeemed',
        headers: { 'x-tenant': 'seven' },
      })
      const card = await shop.member(500)
      const reward = await shop.material({ price: 100 })
      const redeemed = await shop.redeem(card.code, reward.id)
      expect(redeemed.status, redeemed.text).toBe(200)
      const received = await receiver.receivedAtLeast(2)
      const of = (id: string) => received.find(({ payload }) => payload.source.id === id)!
      expect(of(webhook).headers).toMatchObject({
        'content-type': 'application/json',
        'x-jeton-event': 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED',
        'x-jeton-event-version': '2024-01-01',
        'x-jeton-attempt': '1',
      })
      expect(of(webhook).headers['webhook-id']).toBe(of(webhook).payload.id)
      expect(of(webhook).payload).toMatchObject({
        type: 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED',
        data: { voucher: { code: card.code, loyalty_card: { balance: 400 } } },
      })
      expect(of(webhook).headers).not.toHaveProperty('x-tenant')
      expect(of(distribution).headers['x-tenant']).toBe('seven')
      expect(of(distribution).payload).toMatchObject({
        type: 'club.redeemed',
        data: { publication: { voucher: { code: card.code } } },
      })
      await attempted(shop.projectId, 1)
      expect(await rowsOf(shop.projectId)).toMatchObject([{ status: 'delivered' }, { status: 'delivered' }])
      expect(await attemptsOf(shop.projectId)).toMatchObject([{ status: 204 }, { status: 204 }])
    })

    test('an event is sent with the same id and bytes at every attempt, to the current address', async () => {
      const { projectId, webhookPath, happen } = await subscribed()
      receiver.answer = () => ({ status: 500 })
      await happen()
      const { next_attempt_at } = await attempted(projectId, 1)
      const elsewhere = `${receiver.url}/moved`
      await service.manage('PUT', webhookPath, { target_url: elsewhere })
      receiver.answer = () => ({})
      await goTo(next_attempt_at!)
      const [first, second] = await poll(receiver.receivedAtLeast(2))
      expect(second!.path).toBe('/hook/moved')
      expect(second!.body).toBe(first!.body)
      expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
      expect([first, second].map((one) => one!.headers['x-jeton-attempt'])).toEqual(['1', '2'])
      expect(second!.headers['webhook-signature']).not.toBe(first!.headers['webhook-signature'])
      await attempted(projectId, 2)
    })

    test('an event is replayed with the same id and bytes after its destination changed', async () => {
      const { path, projectId, webhookPath, happen } = await subscribed()
      receiver.answer = () => ({ status: 200, body: 'ünd\u001f\u001d"' })
      const eventId = await happen()
      const { id } = await attempted(projectId, 1)
      await service.manage('PUT', webhookPath, { target_url: `${receiver.url}/moved` })
      const replayed = await service.manage('POST', `${path}/events/${eventId}/replay`)
      expect(replayed.body).toMatchObject({ reopened: 1 })
      const [first, second] = await poll(receiver.receivedAtLeast(2))
      expect(second!.path).toBe('/hook/moved')
      expect(second!.body).toBe(first!.body)
      expect(second!.headers['webhook-id']).toBe(id)
      await attempted(projectId, 2)
      const { body } = await service.manage('GET', `${path}/deliveries/${id}`)
      expect(JSON.stringify(body.payload)).toBe(first!.body)
      const attempt = { status: 200, response_body: 'ünd\u001f\u001d"', error: null }
      expect(body.attempts).toMatchObject([attempt, attempt])
      expect(Date.parse(body.attempts[1].at)).toBeGreaterThanOrEqual(Date.parse(body.attempts[0].at))
    })

    test('an event is signed with both secrets during a rotation, and with the new one afterwards', async () => {
      const { projectId, webhookPath, happen } = await subscribed()
      const signatures = (i: number) => String(receiver.received[i]!.headers['webhook-signature']).split(' ')
      await service.manage('POST', `${webhookPath}/rotate-secret`, { overlap_seconds: 3600 })
      await happen()
      await receiver.receivedAtLeast(1)
      expect(signatures(0)).toHaveLength(2)
      await goTo(service.clock.now() + HOUR)
      await happen()
      await receiver.receivedAtLeast(2)
      expect(signatures(1)).toHaveLength(1)
      await attempted(projectId, 1)
    })
  })

  describe('a receiver that fails', () => {
    test('a delivery is retried at each of the twelve times after its first attempt, and then no more', async () => {
      const { projectId, happen } = await subscribed()
      receiver.answer = () => ({ status: 500, body: 'no' })
      await happen()
      for (const [i, minutes] of SLOT_MINUTES.entries()) {
        const { next_attempt_at, first_attempt_at, status } = await attempted(projectId, i + 1)
        expect(status).toBe('pending')
        const after = next_attempt_at! - first_attempt_at!
        expect(after).toBeGreaterThanOrEqual(minutes * MINUTE)
        expect(after).toBeLessThanOrEqual(minutes * MINUTE * 1.1)
        // Starts just before it is due: a delivery that is sent too early has an earlier timestamp.
        await goTo(next_attempt_at! - 2 * SECOND)
        const received = await poll(receiver.receivedAtLeast(i + 2))
        const sentAt = Number(received.at(-1)!.headers['webhook-timestamp']) * 1000
        expect(sentAt).toBeGreaterThanOrEqual(next_attempt_at! - SECOND)
        expect(sentAt).toBeLessThan(next_attempt_at! + MINUTE)
      }
      const last = await attempted(projectId, 13)
      expect(last).toMatchObject({ status: 'exhausted', next_attempt_at: null })
      expect(receiver.received).toHaveLength(13)
      const attempts = await attemptsOf(projectId)
      expect(attempts.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13])
      expect(attempts.at(-1)).toMatchObject({ status: 500, response_body: 'no' })
    })

    test.each([429, 503])(
      'a receiver that returns %i with Retry-After gets no earlier attempt',
      async (status) => {
        const { projectId, happen } = await subscribed()
        receiver.answer = () => ({ status, headers: { 'retry-after': '600' } })
        await happen()
        const row = await attempted(projectId, 1)
        expect(row.next_attempt_at! - row.first_attempt_at!).toBeGreaterThanOrEqual(600 * SECOND)
        expect(row.next_attempt_at! - row.first_attempt_at!).toBeLessThan(601 * SECOND)
        expect(row.slot).toBe(4)
      },
    )

    test('a receiver that returns 410 is disabled with a reason, and its deliveries are held until it is enabled', async () => {
      const { projectId, webhookPath, path, happen } = await subscribed()
      receiver.answer = () => ({ status: 410 })
      await happen()
      await attempted(projectId, 1)
      const disabled = async () => (await service.manage('GET', webhookPath)).body
      while ((await disabled()).active) await new Promise((resolve) => setTimeout(resolve, 5))
      expect((await disabled()).disabled_reason).toContain('410')
      const { body: log } = await service.manage('GET', `${path}/audit-log`)
      expect(log.data).toContainEqual(
        expect.objectContaining({ action: 'webhook.disabled', actor: { type: 'system', id: 'delivery' } }),
      )
      await happen()
      await goTo(service.clock.now() + HOUR)
      receiver.answer = () => ({})
      await service.manage('POST', `${webhookPath}/enable`)
      await receiver.receivedAtLeast(3)
      await stored(projectId, ({ status: is }) => is === 'delivered', 2)
      expect(receiver.received).toHaveLength(3)
    })

    test('a receiver that fails for five days is disabled, and one success restarts the count', async () => {
      const { projectId, webhookPath, happen } = await subscribed()
      const active = async () => (await service.manage('GET', webhookPath)).body.active
      receiver.answer = () => ({ status: 500 })
      await happen()
      await attempted(projectId, 1)
      await service.jump(4 * DAY)
      receiver.answer = () => ({})
      await happen()
      await poll(stored(projectId, ({ status }) => status === 'delivered', 2))
      receiver.answer = () => ({ status: 500 })
      await happen()
      const tried = ({ attempts_made, claim_id }: DeliveryRow) => attempts_made > 0 && claim_id === null
      await stored(projectId, tried, 3)
      await service.jump(2 * DAY)
      await happen()
      await stored(projectId, tried, 4)
      expect(await active()).toBe(true)
      await service.jump(3 * DAY + HOUR)
      await happen()
      while (await active()) await new Promise((resolve) => setTimeout(resolve, 5))
      expect((await service.manage('GET', webhookPath)).body.disabled_reason).toContain(
        'every attempt has failed',
      )
    })
  })

  describe('a forbidden address', () => {
    test('a connection to a forbidden address is refused, explained and not retried', async () => {
      const { env } = await engine.freshStore()
      const clock = new TestClock()
      // It is allowed to reach this machine, and does not send.
      const lenient = await startService({ ...env, ...ENV }, { clock, worker: false })
      const project = await lenient.project('Careless')
      await lenient.manage('POST', `/projects/${project.id}/webhooks`, {
        target_url: receiver.url,
        events: [KIND],
      })
      const call = apiOf(lenient.url, await lenient.key(project.id))
      await ok(call('POST', '/redemptions/rewards', { source_id: 'r-1', data: redemptionData() }))
      await lenient.stop()
      const strict = await startService({ ...env, JETON_ENCRYPTION_KEY: KEY }, { clock })
      try {
        await clock.advance(500)
        const deliveries = () => strict.manage('GET', `/projects/${project.id}/deliveries`)
        while ((await deliveries()).body.data[0]?.status !== 'exhausted')
          await new Promise((resolve) => setTimeout(resolve, 5))
        const { id } = (await deliveries()).body.data[0]
        const { body } = await strict.manage('GET', `/projects/${project.id}/deliveries/${id}`)
        expect(body).toMatchObject({ attempts_made: 1, next_attempt_at: null, attempts: [{ status: null }] })
        expect(body.attempts[0].error).toMatch(/127\.0\.0\.1.*on this machine/)
        expect(receiver.received).toEqual([])
      } finally {
        await strict.stop()
      }
    })
  })

  describe('stopping', () => {
    test('a shutdown lets sends in flight finish and records their results', async () => {
      const { env } = await engine.freshStore()
      const clock = new TestClock()
      const one = await startService({ ...env, ...ENV }, { clock })
      const project = await one.project('Stopped')
      await one.manage('POST', `/projects/${project.id}/webhooks`, {
        target_url: receiver.url,
        events: [KIND],
      })
      const call = apiOf(one.url, await one.key(project.id))
      let finish: () => void = () => undefined
      receiver.answer = () => new Promise((resolve) => (finish = () => resolve({ status: 200 })))
      await ok(call('POST', '/redemptions/rewards', { source_id: 'r-1', data: redemptionData() }))
      await receiver.receivedAtLeast(1)
      const stopped = one.stop()
      finish()
      await stopped
      const next = await startService({ ...env, ...ENV }, { clock, worker: false })
      const { body } = await next.manage('GET', `/projects/${project.id}/deliveries`)
      expect(body.data).toMatchObject([{ status: 'delivered', attempts_made: 1 }])
      await next.stop()
    })
  })
})
