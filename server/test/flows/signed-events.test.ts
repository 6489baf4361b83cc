import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { capturedLog } from '../captured-log.ts'
import { eachEngine } from '../engines.ts'
import { ok, openShop, type Shop } from '../loyalty.ts'
import { type Received, type Receiver, startReceiver } from '../receiver.ts'
import { type Answer, startService, type TestService } from '../service.ts'
import { everythingIn } from '../timed-service.ts'

const ENV = {
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
}
const KIND = 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED'
const HEADER_VALUE = 'Bearer a-value-that-must-not-appear'

eachEngine((engine) => {
  let service: TestService
  let shop: Shop
  let card: { code: string }
  let reward: { id: string }
  let receiver: Receiver
  let env: Readonly<Record<string, string>>
  const { log, text: logged } = capturedLog({ level: 'trace' })

  /** Nothing is sent or fanned out unless a test starts a worker. */
  beforeAll(async () => {
    receiver = await startReceiver()
    env = { ...(await engine.settings()), ...ENV }
    service = await startService(env, { clock: systemClock, worker: false, log })
    shop = await openShop(service)
    card = await shop.member(10_000)
    reward = await shop.material()
  })
  afterAll(async () => {
    await service.stop()
    await receiver.close()
  })

  const pathOf = (rest: string): string => `/projects/${shop.projectId}${rest}`
  const manage = (method: string, rest: string, body?: unknown): Promise<Answer> =>
    service.manage(method, pathOf(rest), body)
  async function create(kind: 'webhook' | 'distribution', fields: object = {}) {
    const own = kind === 'webhook' ? { events: [KIND] } : { name: 'CRM', campaign_id: shop.campaign.id }
    const needed = { target_url: receiver.url, ...own }
    const answer = await manage('POST', `/${kind}s`, { ...needed, ...fields })
    expect(answer.status, answer.text).toBe(201)
    return answer.body as { id: string; secret: string }
  }
  async function redeem(): Promise<string> {
    const redeemed = shop.redeem(card.code, reward.id)
    await ok(redeemed)
    const group = (await redeemed).headers.get('x-request-id')
    const { body } = await manage('GET', '/events')
    return body.data.find((one: { group_id: string }) => one.group_id === group).id
  }
  /** Waits for a matching event at the target of all destinations. */
  async function arrived(matches: (payload: Received['payload']) => boolean): Promise<Received> {
    for (let count = 1; ; count++) {
      const found = (await receiver.receivedAtLeast(count)).find(({ payload }) => matches(payload))
      if (found) return found
    }
  }
  const sign = (eventId: string, body: unknown): Promise<Answer> =>
    manage('POST', `/events/${eventId}/signed`, body)
  const signedAs = async (eventId: string, destination: string) => {
    const answer = await sign(eventId, { destination })
    expect(answer.status, answer.text).toBe(200)
    return answer.body as { headers: Record<string, string>; body: string }
  }

  test('a signed event has the signature and every header of a delivery', async () => {
    const webhook = await create('webhook')
    const id = await redeem()
    const { headers, body } = await signedAs(id, webhook.id)
    expect(new Webhook(webhook.secret).verify(body, headers)).toMatchObject({
      id: headers['webhook-id'],
      project_id: shop.projectId,
      type: KIND,
      source: { id: webhook.id, object: 'webhook', target_url: receiver.url },
      event: { id },
    })
    expect(Object.keys(headers).sort()).toEqual([
      'content-type',
      'webhook-id',
      'webhook-signature',
      'webhook-timestamp',
      'x-jeton-attempt',
      'x-jeton-event',
      'x-jeton-event-version',
      'x-voucherify-signature',
    ])
    expect(headers['webhook-id']).toMatch(/^whs_\w{19}$/)
    expect(headers['x-jeton-attempt']).toBe('1')
  })

  test('signing an event again returns the same id and bytes, and others for another destination', async () => {
    const [one, other] = [await create('webhook'), await create('webhook')]
    const id = await redeem()
    const [first, second, third] = [
      await signedAs(id, one.id),
      await signedAs(id, one.id),
      await signedAs(id, other.id),
    ]
    expect(second.body).toBe(first.body)
    expect(third.headers['webhook-id']).not.toBe(first.headers['webhook-id'])
    expect(() => new Webhook(one.secret).verify(third.body, third.headers)).toThrow()
  })

  test('an event with a delivery is signed with its id and bytes', async () => {
    const webhook = await create('webhook')
    const id = await redeem()
    const worker = await startService(env, { clock: systemClock })
    const sent = await arrived(({ source, event }) => source.id === webhook.id && event.id === id)
    const { headers, body } = await signedAs(id, webhook.id)
    expect(body).toBe(sent.body)
    expect(headers['webhook-id']).toBe(sent.headers['webhook-id'])
    await worker.stop()
  })

  test('both secrets sign an event during a rotation, and X-Voucherify-Signature uses the new one', async () => {
    const webhook = await create('webhook')
    const id = await redeem()
    const rotated = await manage('POST', `/webhooks/${webhook.id}/rotate-secret`, {})
    const { headers, body } = await signedAs(id, webhook.id)
    expect(headers['webhook-signature']!.split(' ')).toHaveLength(2)
    for (const secret of [webhook.secret, rotated.body.secret]) new Webhook(secret).verify(body, headers)
  })

  test('a signed event of a distribution has its publication and type, and no header values', async () => {
    const distribution = await create('distribution', {
      event_name: 'mug.given',
      headers: { authorization: HEADER_VALUE },
    })
    const id = await redeem()
    const answer = await sign(id, { destination: distribution.id })
    const payload = new Webhook(distribution.secret).verify(answer.body.body, answer.body.headers)
    expect(payload).toMatchObject({
      type: 'mug.given',
      data: { publication: { object: 'publication', metadata: { distribution_id: distribution.id } } },
      source: { id: distribution.id, object: 'distribution' },
    })
    expect((await signedAs(id, distribution.id)).body).toBe(answer.body.body)
    expect(answer.text).not.toContain(HEADER_VALUE)
    expect(answer.body.headers).not.toHaveProperty('authorization')
  })

  test('an event without a destination is signed with a secret of the caller', async () => {
    const secret = `whsec_${'abcd'.repeat(11)}`
    const id = await redeem()
    const target_url = 'http://localhost:3000/hook'
    const { body: first } = await sign(id, { secret, target_url })
    expect(new Webhook(secret).verify(first.body, first.headers)).toMatchObject({
      source: { id: expect.stringMatching(/^wh_\w{16}$/), object: 'webhook', target_url },
      event: { id },
    })
    expect((await sign(id, { secret, target_url })).body.body).toBe(first.body)
    expect(logged()).not.toContain(secret)
  })

  test('signing an event changes nothing and is not in the audit log', async () => {
    const webhook = await create('webhook')
    const id = await redeem()
    const before = await everythingIn(service.service.db)
    await signedAs(id, webhook.id)
    await sign(id, { secret: `whsec_${'abcd'.repeat(11)}` })
    expect(await everythingIn(service.service.db)).toEqual(before)
  })

  describe('is refused', () => {
    test('signing for an unknown or deleted event or destination is refused', async () => {
      const webhook = await create('webhook')
      const id = await redeem()
      expect((await sign('evcus_0000000000000000', { destination: webhook.id })).status).toBe(404)
      for (const destination of ['wh_0000000000000000', 'distr_0000000000000000', 'nonsense'])
        expect((await sign(id, { destination })).status).toBe(404)
      const other = await openShop(service)
      const elsewhere = await service.manage('POST', `/projects/${other.projectId}/events/${id}/signed`, {
        destination: webhook.id,
      })
      expect(elsewhere.status).toBe(404)
      await manage('DELETE', `/webhooks/${webhook.id}`)
      expect((await sign(id, { destination: webhook.id })).status).toBe(404)
    })

    test('signing an event for a destination that does not receive it is refused', async () => {
      const { id: campaign_id } = await ok(
        shop.call('POST', '/loyalties', {
          name: `Other ${Math.random()}`,
          voucher: { type: 'LOYALTY_CARD', loyalty_card: { points: 0 } },
        }),
      )
      const elsewhere = await create('distribution', { campaign_id })
      const id = await redeem()
      const answer = await sign(id, { destination: elsewhere.id })
      expect(answer).toMatchObject({ status: 409, body: { key: 'invalid_state' } })
      expect(answer.body.message).toContain('another campaign')

      const [tested, other] = [await create('webhook'), await create('webhook')]
      const test = await manage('POST', `/webhooks/${tested.id}/test`)
      const { headers, body } = await signedAs(test.body.event_id, tested.id)
      expect(new Webhook(tested.secret).verify(body, headers)).toMatchObject({ type: 'webhook.test' })
      expect((await sign(test.body.event_id, { destination: other.id })).status).toBe(409)
      expect((await sign(test.body.event_id, { secret: other.secret })).status).toBe(409)
    })

    test.each([
      ['nothing', {}],
      ['two', { destination: 'wh_1', secret: `whsec_${'abcd'.repeat(11)}` }],
      ['a target without a secret', { destination: 'wh_1', target_url: 'http://localhost' }],
      ['a secret that is none', { secret: 'hush-hush' }],
      ['an unknown field', { destination: 'wh_1', send: true }],
    ])('signing with %s is refused, without repeating the value', async (_, body) => {
      const answer = await sign(await redeem(), body)
      expect(answer.status).toBe(400)
      expect(answer.text).not.toMatch(/hush|whsec_abcd/)
    })

    test('signing events requires an operator', async () => {
      const url = `${service.url}/management/v1${pathOf(`/events/${await redeem()}/signed`)}`
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-app-id': shop.pair.appId,
          'x-app-token': shop.pair.appToken,
        },
        body: '{"destination":"wh_1"}',
      })
      expect(response.status).toBe(401)
    })
  })
})
