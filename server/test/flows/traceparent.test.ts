import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { EventTables } from '../../src/features/events/event.store.ts'
import { eachEngine } from '../engines.ts'
import { ok, openShop, type Shop } from '../loyalty.ts'
import { sendRaw } from '../raw-http.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { redemptionData } from '../reported-redemption.ts'
import { OPERATOR } from '../service.ts'
import { startTimedService, type TimedService } from '../timed-service.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const SENT = `00-${TRACE}-${PARENT}-01`
const MINUTE = 60_000
const ENV = {
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
}

/** Without a collector: the trace of the caller reaches the receiver all the same. */
eachEngine((engine) => {
  let service: TimedService
  let receiver: Receiver
  let shop: Shop
  let webhook: { id: string; secret: string }
  let reports = 0

  beforeAll(async () => {
    service = await startTimedService(engine, { env: ENV })
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    receiver = await startReceiver()
    shop = await openShop(service)
    const body = { target_url: receiver.url, events: ['customer.reward_redemptions.completed'] }
    webhook = (await service.manage('POST', `/projects/${shop.projectId}/webhooks`, body)).body
  })
  afterEach(() => receiver.close())

  const traceOf = async (): Promise<string | null | undefined> => {
    const rows = await service.service.db
      .read<EventTables>()
      .selectFrom('events')
      .select('traceparent')
      .where('project_id', '=', shop.projectId)
      .execute()
    return rows.at(-1)?.traceparent
  }

  const attemptsMade = async (): Promise<number | undefined> =>
    (await service.manage('GET', `/projects/${shop.projectId}/deliveries`)).body.data[0]?.attempts_made

  const report = (headers: Record<string, string> = {}) =>
    ok(
      shop.call(
        'POST',
        '/redemptions/rewards',
        { source_id: `r-${++reports}`, data: redemptionData() },
        headers,
      ),
    )

  test('the traceparent of a redemption is stored with its event and sent on unchanged, outside of the signature', async () => {
    const [card, reward] = [await shop.member(100), await shop.material()]
    await ok(shop.redeem(card.code, reward.id, {}, { traceparent: SENT }))
    const [{ headers, body }] = (await receiver.receivedAtLeast(1)) as [(typeof receiver.received)[0]]
    expect(await traceOf()).toBe(SENT)
    expect(headers.traceparent).toBe(SENT)
    const { traceparent: _, ...withoutIt } = headers
    // The clock of the service is not that of the verifying library.
    const timestamp = Number(headers['webhook-timestamp'])
    const verifier = new Webhook(webhook.secret)
    expect(verifier.sign(String(withoutIt['webhook-id']), new Date(timestamp * 1000), body)).toBe(
      headers['webhook-signature'],
    )
  })

  test('every attempt carries the traceparent, also after a retry', async () => {
    receiver.answer = () => ({ status: receiver.received.length === 1 ? 500 : 204 })
    await report({ traceparent: SENT })
    await receiver.receivedAtLeast(1)
    // An attempt whose result is not stored yet would be repeated as the same attempt.
    await expect.poll(attemptsMade).toBe(1)
    const advance = async () => {
      await service.jump(2 * MINUTE)
      await service.advance(1_000)
      return receiver.received.length
    }
    await expect.poll(advance).toBe(2)
    expect(receiver.received.map(({ headers }) => [headers['x-jeton-attempt'], headers.traceparent])).toEqual(
      [
        ['1', SENT],
        ['2', SENT],
      ],
    )
  })

  test('a test event and a signed event carry the traceparent too', async () => {
    const path = `/projects/${shop.projectId}`
    await sendRaw(service.url, {
      method: 'POST',
      path: `/management/v1${path}/webhooks/${webhook.id}/test`,
      headers: {
        'x-management-id': OPERATOR.id,
        'x-management-token': OPERATOR.token,
        traceparent: SENT,
      },
    })
    const [tested] = await receiver.receivedAtLeast(1)
    expect(tested!.headers.traceparent).toBe(SENT)
    const { event_id } = await report({ traceparent: SENT })
    const signed = await service.manage('POST', `${path}/events/${event_id}/signed`, {
      destination: webhook.id,
    })
    expect(signed.body.headers.traceparent).toBe(SENT)
  })

  test('without a traceparent the receiver gets none', async () => {
    await report()
    const [{ headers }] = (await receiver.receivedAtLeast(1)) as [(typeof receiver.received)[0]]
    expect(await traceOf()).toBe(null)
    expect(headers).not.toHaveProperty('traceparent')
  })

  test.each([
    ['of zeros', `00-${'0'.repeat(32)}-${PARENT}-01`],
    ['in capitals', SENT.toUpperCase()],
    ['of version ff', SENT.replace('00', 'ff')],
    ['with too many fields', `${SENT}-x`],
    ['with a header inside', `${SENT}\tx-jeton-event: forged`],
    ['with other characters', `${SENT.slice(0, -2)}é1`],
    ['of several kilobytes', `${SENT}${'-'.repeat(8_000)}`],
    ['sent twice', `${SENT}\r\ntraceparent: ${SENT}`],
    ['that is SQL', "'; drop table events; --"],
  ])('a traceparent %s is ignored, and the redemption succeeds', async (_, traceparent) => {
    const { status } = await sendRaw(service.url, {
      method: 'POST',
      path: '/v1/redemptions/rewards',
      headers: {
        'x-app-id': shop.pair.appId,
        'x-app-token': shop.pair.appToken,
        'content-type': 'application/json',
        traceparent,
      },
      body: JSON.stringify({ source_id: `r-${++reports}`, data: redemptionData() }),
    })
    expect(status).toBe(200)
    const [{ headers }] = (await receiver.receivedAtLeast(1)) as [(typeof receiver.received)[0]]
    expect(await traceOf()).toBe(null)
    expect(headers).not.toHaveProperty('traceparent')
  })

  test('a traceparent of a later version is sent on as one of the current version', async () => {
    await report({ traceparent: `01-${TRACE}-${PARENT}-03-more` })
    const [{ headers }] = (await receiver.receivedAtLeast(1)) as [(typeof receiver.received)[0]]
    expect(headers.traceparent).toBe(SENT)
  })
})
