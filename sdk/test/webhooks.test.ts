import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redemptionData } from '../../server/test/reported-redemption.ts'
import type { CompletedRedemption } from '../src/index.ts'
import type { TestJeton } from '../src/testing/index.ts'
import { core, testing, webhooks } from './installed.ts'

const KIND = 'customer.reward_redemptions.completed'
const data = redemptionData() as CompletedRedemption['data']

let jeton: TestJeton
let secret: string
let webhookId: string
let api: typeof fetch
let reported = 0

beforeAll(async () => {
  jeton = await testing.startJeton()
  const made = await jeton.management
    .project(jeton.projectId)
    .webhooks.create({ target_url: 'https://hooks.example.com/jeton', events: [KIND] })
  secret = made.secret.reveal()
  webhookId = made.id
  const source = core.createTokenSource({
    baseUrl: jeton.baseUrl,
    key: await jeton.newKey(),
    scope: ['redemptions'],
  })
  api = core.createFetch(source, { baseUrl: jeton.baseUrl })
})
afterAll(() => jeton.stop())

/** A real delivery of a redemption. */
async function delivery(): Promise<{ headers: Headers; body: string }> {
  await core.reportRedemption(api, { source_id: `order-${++reported}`, data })
  const iterator = jeton.deliveries[Symbol.asyncIterator]()
  const { value } = await iterator.next()
  return { headers: value.headers, body: await value.text() }
}

const reasonOf = (input: Parameters<typeof webhooks.verify>[0]): Promise<string> =>
  webhooks.verify(input).then(
    () => 'verified',
    (error: unknown) => {
      if (error instanceof webhooks.WebhookVerificationError) return error.reason
      throw error
    },
  )

test('a real delivery is verified, as text, bytes or buffer, and has the type of its event', async () => {
  const { headers, body } = await delivery()
  for (const one of [body, Buffer.from(body), new TextEncoder().encode(body).buffer]) {
    const event = await webhooks.verify({ body: one, headers, secret })
    if (!webhooks.isKind(event, KIND)) throw new Error('another kind')
    expect(event.data.reward_redemption.state).toBe('COMPLETED')
    expect(event.event.type).toBe(KIND)
    expect(event.id).toBe(headers.get('webhook-id'))
  }
  expect(await reasonOf({ body, headers: Object.fromEntries(headers), secret })).toBe('verified')
  const upper = Object.fromEntries([...headers].map(([name, value]) => [name.toUpperCase(), value]))
  expect(await reasonOf({ body, headers: upper, secret })).toBe('verified')
})

test('the library standardwebhooks agrees about every delivery, real or signed for a test', async () => {
  const { headers, body } = await delivery()
  const other = new Webhook(secret)
  expect(other.verify(body, Object.fromEntries(headers))).toEqual(
    await webhooks.verify({ body, headers, secret }),
  )
  const made = await testing.signed(KIND, data, secret)
  const text = await made.clone().text()
  expect(other.verify(text, Object.fromEntries(made.headers))).toEqual(
    await webhooks.verify({ body: text, headers: made.headers, secret }),
  )
  const at = new Date()
  const signature = other.sign('msg_1', at, '{"event":{"type":"x"}}')
  const own = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signature,
  }
  expect(await reasonOf({ body: '{"event":{"type":"x"}}', headers: own, secret })).toBe('verified')
})

describe('a delivery is refused, and the error names the cause', () => {
  test('if its body was changed', async () => {
    const { headers, body } = await delivery()
    expect(await reasonOf({ body: body.replace('Zoë', 'Eve'), headers, secret })).toBe('signature_mismatch')
    expect(await reasonOf({ body: `${body}x`, headers, secret })).toBe('signature_mismatch')
  })

  test('if its body was parsed and written again', async () => {
    const { headers, body } = await delivery()
    const escaped = body.replaceAll(
      /[^\x00-\x7f]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
    for (const rewritten of [JSON.stringify(JSON.parse(body), null, 2), `${body}\n`, escaped])
      expect(await reasonOf({ body: rewritten, headers, secret })).toBe('body_rewritten')
  })

  test('if its raw body is missing', async () => {
    const { headers, body } = await delivery()
    for (const parsed of [JSON.parse(body), undefined, null, 7, '', new Uint8Array()])
      expect(await reasonOf({ body: parsed as string, headers, secret })).toBe('body_not_raw')
  })

  test('if the secret is of another webhook or of another kind, and the error does not repeat the secret', async () => {
    const { headers, body } = await delivery()
    expect(await reasonOf({ body, headers, secret: `whsec_${'A'.repeat(44)}` })).toBe('signature_mismatch')
    const { appToken } = await jeton.newKey()
    for (const other of [
      appToken,
      secret.slice(6),
      'whsec_',
      '',
      `${secret}\n`,
      'whsec_!!!!',
      [],
      undefined as never,
    ]) {
      const error = await webhooks.verify({ body, headers, secret: other }).catch((one: unknown) => one)
      expect(error, String(other)).toMatchObject({ reason: 'secret_of_another_kind' })
      if (String(other).length > 10) expect(String((error as Error).message)).not.toContain(String(other))
    }
    const error = await webhooks.verify({ body, headers, secret: appToken }).catch((one: unknown) => one)
    expect(error).toMatchObject({ hint: expect.stringContaining('an app token') })
  })

  test('if the clocks differ, by how much', async () => {
    const { headers, body } = await delivery()
    const at = (seconds: number) => ({ body, headers, secret, now: () => Date.now() + seconds * 1000 })
    expect(await reasonOf(at(298))).toBe('verified')
    expect(await reasonOf(at(-298))).toBe('verified')
    await expect(webhooks.verify(at(400))).rejects.toMatchObject({
      reason: 'timestamp_too_old',
      hint: expect.stringMatching(/(399|400|401) s ago/),
    })
    await expect(webhooks.verify(at(-400))).rejects.toMatchObject({
      reason: 'timestamp_in_future',
      hint: expect.stringMatching(/(399|400|401) s in the future/),
    })
  })

  test('if a header is missing, repeated or malformed', async () => {
    const { headers, body } = await delivery()
    const all = Object.fromEntries(headers)
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
      expect(await reasonOf({ body, headers: { ...all, [name]: undefined }, secret })).toBe('missing_headers')
      expect(await reasonOf({ body, headers: { ...all, [name]: [all[name]!, all[name]!] }, secret })).toBe(
        'missing_headers',
      )
    }
    for (const [name, value] of [
      ['webhook-timestamp', '1e9'],
      ['webhook-timestamp', `${all['webhook-timestamp']}000`],
      ['webhook-signature', all['x-voucherify-signature']!],
      ['webhook-signature', 'v1,'],
      ['webhook-signature', all['webhook-signature']!.replace('v1,', 'v2,')],
    ] as const)
      expect(await reasonOf({ body, headers: { ...all, [name]: value }, secret }), value).toBe(
        'malformed_headers',
      )
  })

  test('if another id or time is put before the same body', async () => {
    const { headers, body } = await delivery()
    const all = Object.fromEntries(headers)
    for (const [name, value] of [
      ['webhook-id', 'whs_other'],
      ['webhook-timestamp', String(Number(all['webhook-timestamp']) + 1)],
    ] as const)
      expect(await reasonOf({ body, headers: { ...all, [name]: value }, secret })).toBe('signature_mismatch')
  })

  test('with a thousand wrong signatures in time for a thousand requests', async () => {
    const { headers, body } = await delivery()
    const wrong = Array.from(
      { length: 1_000 },
      (_, i) => `v1,${createHmac('sha256', `${i}`).digest('base64')}`,
    ).join(' ')
    const started = performance.now()
    expect(
      await reasonOf({
        body,
        headers: { ...Object.fromEntries(headers), 'webhook-signature': wrong },
        secret,
      }),
    ).toBe('signature_mismatch')
    expect(performance.now() - started).toBeLessThan(1_000)
  })
})

test('during a rotation a delivery is verified with the old secret, the new one, or both', async () => {
  const rotated = await jeton.management
    .project(jeton.projectId)
    .webhooks.rotate(webhookId, { overlap_seconds: 60 })
  const next = rotated.secret.reveal()
  const { headers, body } = await delivery()
  expect(headers.get('webhook-signature')!.split(' ')).toHaveLength(2)
  for (const known of [secret, next, [secret, next], [`whsec_${'A'.repeat(44)}`, next]])
    expect(await reasonOf({ body, headers, secret: known })).toBe('verified')
  await jeton.advance(61_000)
  const later = await delivery()
  const now = jeton.now
  expect(await reasonOf({ ...later, secret, now })).toBe('signature_mismatch')
  expect(await reasonOf({ ...later, secret: [secret, next], now })).toBe('verified')
  secret = next
})

test('the kind is taken from the signed body: a distribution has its own name, and a header proves nothing', async () => {
  const project = jeton.management.project(jeton.projectId)
  const made = await testing.signed(KIND, data, secret, { at: new Date(jeton.now()) })
  const named = (await made.text()).replace('EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED', 'shop.mug')
  expect(webhooks.isKind(JSON.parse(named), KIND)).toBe(true)
  const tested = project.webhooks.test(webhookId, { wait_ms: 5_000 })
  const iterator = jeton.deliveries[Symbol.asyncIterator]()
  const { value } = await iterator.next()
  await tested
  const headers = new Headers(value.headers)
  headers.set('x-jeton-event', 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED')
  const event = await webhooks.verify({ body: await value.text(), headers, secret, now: jeton.now })
  expect(webhooks.isKind(event, KIND)).toBe(false)
})
