import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeDestination } from '../../../test/destination.ts'
import { type Receiver, startReceiver } from '../../../test/receiver.ts'
import { REWARD_REDEMPTION_COMPLETED, TEST_EVENT } from '../../contract/event-kinds.ts'
import { cachingVault, createVault, type Vault } from '../../platform/encryption.ts'
import { createEgressPolicy, createSender, type Sender } from '../../platform/outbound/index.ts'
import { randomBytes } from '../../platform/secrets.ts'
import { type OutgoingDelivery, sendDelivery } from './send-delivery.ts'
import { standardSignature, voucherifySignature } from './signature.ts'

const NOW = Date.UTC(2026, 0, 15, 12, 0, 0, 999)
const BODY = '{"id":"whs_1","data":{"name":"Zoë 🎁"},"n":1.0}'
const KEY = Buffer.alloc(32, 1)

let receiver: Receiver
let sender: Sender
let vault: Vault
beforeEach(async () => {
  receiver = await startReceiver()
  sender = createSender({ policy: createEgressPolicy(['127.0.0.0/8']), userAgent: 'Jeton/1.2.3' })
  vault = createVault(KEY, randomBytes)
})
afterEach(() => Promise.all([receiver.close(), sender.close()]))

const made = (wanted: Partial<Parameters<typeof makeDestination>[1]> = {}) =>
  makeDestination(vault, { targetUrl: receiver.url, ...wanted })

const outgoing = (
  target: OutgoingDelivery['target'],
  change: Partial<OutgoingDelivery> = {},
): OutgoingDelivery => ({
  deliveryId: 'whs_1',
  kind: REWARD_REDEMPTION_COMPLETED,
  attempt: 1,
  body: Buffer.from(BODY),
  target,
  nowMs: NOW,
  ...change,
})
const send = (destination: OutgoingDelivery['target'], change: Partial<OutgoingDelivery> = {}) =>
  sendDelivery({ sender, vault }, outgoing(destination, change))

describe('requests', () => {
  test('a traceparent is sent on, and changes neither the signatures nor the body', async () => {
    const { row } = made()
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    for (const sent of [traceparent, null]) await send(row, { traceparent: sent })
    const [withTrace, without] = receiver.received
    expect(withTrace!.headers).toEqual({ ...without!.headers, traceparent })
    expect(withTrace!.body).toBe(without!.body)
  })

  test('a request has the exact body, every promised header and no other', async () => {
    const { row, secret } = made({
      headers: { authorization: 'Bearer of-the-receiver', 'x-tenant': 'seven' },
    })
    await send(row, { attempt: 3 })
    const [{ body, headers }] = receiver.received as [(typeof receiver.received)[0]]
    expect(body).toBe(BODY)
    const timestamp = Math.floor(NOW / 1000)
    const bytes = Buffer.from(BODY)
    expect(headers).toEqual({
      host: new URL(receiver.url).host,
      connection: 'keep-alive',
      'content-length': String(bytes.length),
      'content-type': 'application/json',
      'user-agent': 'Jeton/1.2.3',
      'webhook-id': 'whs_1',
      'webhook-timestamp': String(timestamp),
      'webhook-signature': standardSignature([secret], { id: 'whs_1', timestamp, body: bytes }),
      'x-voucherify-signature': voucherifySignature(secret, BODY),
      'x-jeton-event': REWARD_REDEMPTION_COMPLETED,
      'x-jeton-event-version': '2024-01-01',
      'x-jeton-attempt': '3',
      authorization: 'Bearer of-the-receiver',
      'x-tenant': 'seven',
    })
  })

  test('every attempt is signed again, with the same id', async () => {
    const { row } = made()
    await send(row)
    await send(row, { attempt: 2, nowMs: NOW + 60_000 })
    const [first, second] = receiver.received.map(({ headers }) => headers)
    expect(second!['webhook-id']).toBe(first!['webhook-id'])
    expect(Number(second!['webhook-timestamp'])).toBe(Number(first!['webhook-timestamp']) + 60)
    expect(second!['webhook-signature']).not.toBe(first!['webhook-signature'])
    expect(second!['x-jeton-attempt']).toBe('2')
  })

  test('a request carries one signature per valid secret, even if the clock goes back', async () => {
    const { row } = made({ previousUntil: NOW })
    for (const nowMs of [NOW - 1, NOW - 1, NOW, NOW + 9, NOW - 1, NOW]) await send(row, { nowMs })
    const counts = receiver.received.map(
      ({ headers }) => String(headers['webhook-signature']).split(' ').length,
    )
    expect(counts).toEqual([2, 2, 1, 1, 2, 1])
  })

  test('a request is signed with the current secret right after a rotation', async () => {
    const [{ row, secret }, other] = [made(), made()]
    const changed = { ...row, secret: other.row.secret, id: other.row.id }
    for (const destination of [row, changed, row]) await send(destination)
    const timestamp = Math.floor(NOW / 1000)
    const by = (one: string) => standardSignature([one], { id: 'whs_1', timestamp, body: Buffer.from(BODY) })
    expect(receiver.received.map(({ headers }) => headers['webhook-signature'])).toEqual([
      by(secret),
      by(other.secret),
      by(secret),
    ])
  })

  test('during a rotation a request carries both signatures, the new one first, and afterwards only the new one', async () => {
    const { row, secret, previousSecret } = made({ previousUntil: NOW + 1 })
    await send(row)
    await send(row, { nowMs: NOW + 1 })
    const signed = { id: 'whs_1', timestamp: Math.floor(NOW / 1000), body: Buffer.from(BODY) }
    const later = { ...signed, timestamp: Math.floor((NOW + 1) / 1000) }
    expect(receiver.received.map(({ headers }) => headers['webhook-signature'])).toEqual([
      standardSignature([secret, previousSecret], signed),
      standardSignature([secret], later),
    ])
    for (const { headers } of receiver.received)
      expect(headers['x-voucherify-signature']).toBe(voucherifySignature(secret, BODY))
  })

  test('a test event is identified as a test', async () => {
    await send(made().row, { kind: TEST_EVENT })
    expect(receiver.received[0]!.headers).toMatchObject({
      'x-jeton-event': 'webhook.test',
      'x-jeton-event-version': '2024-01-01',
    })
  })
})

describe('responses', () => {
  test.each([200, 201, 202, 204, 299])('status %i is a success', async (status) => {
    receiver.answer = () => ({ status, body: status === 204 ? '' : 'thanks' })
    expect(await send(made().row)).toEqual({
      durationMs: expect.any(Number),
      status,
      responseBody: status === 204 ? '' : 'thanks',
      error: null,
      outcome: 'delivered',
      retryAfterMs: null,
    })
  })

  test.each([300, 304, 400, 401, 404, 409, 429, 500, 502, 503])('status %i is a failure', async (status) => {
    receiver.answer = () => ({ status, body: status === 304 ? '' : 'no' })
    expect(await send(made().row)).toMatchObject({ status, error: `answered ${status}`, outcome: 'failed' })
  })

  test('status 410 ends the subscription', async () => {
    receiver.answer = () => ({ status: 410, body: 'gone' })
    expect(await send(made().row)).toMatchObject({ status: 410, error: 'answered 410', outcome: 'gone' })
  })

  test('a redirect is a failure that the error explains', async () => {
    receiver.answer = () => ({ status: 302, headers: { location: 'https://hooks.example/login?to=x' } })
    expect(await send(made().row)).toMatchObject({
      status: 302,
      error: 'redirected to https://hooks.example/login; redirects are not followed',
      outcome: 'failed',
    })
  })

  test('Retry-After is read from 429 and 503, and from no other status', async () => {
    const waits = async (status: number, value: string) => {
      receiver.answer = () => ({ status, headers: { 'retry-after': value } })
      return (await send(made().row)).retryAfterMs
    }
    expect(await waits(429, '120')).toBe(120_000)
    expect(await waits(503, '7')).toBe(7_000)
    // Measured by the store's clock, not by the local one.
    const asked = await waits(503, new Date(NOW + 61_001).toUTCString())
    expect(asked).toBeGreaterThan(0)
    expect(asked).toBeLessThanOrEqual(61_001)
    expect(await waits(503, 'soon')).toBeNull()
    expect(await waits(500, '120')).toBeNull()
    expect(await waits(200, '120')).toBeNull()
  })

  test('a response that repeats the request stores no secret', async () => {
    const { row, secret } = made({ headers: { authorization: 'Bearer of-the-receiver', 'x-n': '7' } })
    receiver.answer = ({ headers }) => ({
      status: 200,
      body: JSON.stringify({ ...headers, secret, seven: 7 }),
    })
    const { responseBody } = await send(row)
    expect(responseBody).not.toContain('of-the-receiver')
    expect(responseBody).not.toContain(secret.slice(6))
    expect(responseBody).toContain('"authorization":"•••"')
    expect(responseBody).toContain('"seven":7')
  })
})

describe('requests that cannot be sent', () => {
  test('a private address is blocked and receives nothing', async () => {
    const strict = createSender({ policy: createEgressPolicy([]) })
    const { row: destination } = made()
    const result = await sendDelivery({ sender: strict, vault }, outgoing(destination))
    expect(result).toMatchObject({ status: null, outcome: 'refused', error: '127.0.0.1 is on this machine' })
    expect(receiver.received).toEqual([])
    await strict.close()
  })

  test('a refused connection is a failure', async () => {
    const { row } = made()
    await receiver.close()
    expect(await send(row)).toMatchObject({
      status: null,
      responseBody: null,
      error: 'connection refused',
      outcome: 'failed',
    })
  })

  test('a secret that cannot be decrypted is reported without its value, and does not count as a failure of the receiver', async () => {
    const { row } = made()
    const result = await sendDelivery(
      { sender, vault: createVault(Buffer.alloc(32, 2), randomBytes) },
      outgoing(row),
    )
    expect(result).toMatchObject({ status: null, outcome: 'unsent', retryAfterMs: null })
    expect(result.error).toMatch(/^not sent: A stored secret requires the encryption key with the id/)
    expect(receiver.received).toEqual([])
  })
})

describe('decrypted secrets', () => {
  test('a secret is decrypted once while it is cached, and a rotated secret is used at once', async () => {
    let opened = 0
    const open: Vault['open'] = (sealed, context) => {
      opened++
      return createVault(KEY, randomBytes).open(sealed, context)
    }
    const counting = cachingVault({ ...vault, open }, 2)
    const deliver = (destination: OutgoingDelivery['target']) =>
      sendDelivery({ sender, vault: counting }, outgoing(destination))
    const [first, second] = [made(), made()]
    for (let turn = 0; turn < 5; turn++) await deliver(first.row)
    expect(opened).toBe(1)
    await deliver(second.row)
    expect(opened).toBe(2)
    // The cache holds two entries: the third evicts the first.
    for (const { row } of [made(), second, first]) await deliver(row)
    expect(opened).toBe(4)
    await deliver(second.row)
    expect(receiver.received.at(-1)!.headers['x-voucherify-signature']).toBe(
      voucherifySignature(second.secret, BODY),
    )
  })

  test('a cached secret does not decrypt in another row', async () => {
    const { row } = made()
    vault = cachingVault(vault, 10)
    expect((await send(row)).outcome).toBe('delivered')
    const stolen = await send({ ...row, id: 'distr_2' })
    expect(stolen).toMatchObject({ outcome: 'unsent', error: expect.stringContaining('altered or moved') })
    expect(receiver.received).toHaveLength(1)
  })
})
