import type { AddressInfo } from 'node:net'
import express from 'express'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { redemptionData } from '../../server/test/reported-redemption.ts'
import type { CompletedRedemption } from '../src/index.ts'
import type { ReceiverOptions, SeenStore } from '../src/webhooks/index.ts'
import { core, forExpress, testing, webhooks } from './installed.ts'

const KIND = 'customer.reward_redemptions.completed'
const SECRET = `whsec_${'c2VjcmV0'.repeat(5)}`
const data = redemptionData() as CompletedRedemption['data']

let handled: string[] = []
let errors: unknown[] = []
beforeEach(() => {
  handled = []
  errors = []
})

const options = (more: Partial<ReceiverOptions> = {}): ReceiverOptions => ({
  secret: SECRET,
  seen: webhooks.memorySeenStore(),
  on: { [KIND]: (event) => void handled.push(event.id) },
  onError: (error) => errors.push(error),
  ...more,
})

const signed = (id?: string) => testing.signed(KIND, data, SECRET, { ...(id && { id }) })

test('a delivery is handled once and acknowledged with 204, however often it arrives', async () => {
  const receive = webhooks.createReceiver(options())
  for (let i = 0; i < 3; i++) expect((await receive(await signed('whs_1'))).status).toBe(204)
  expect(handled).toEqual(['whs_1'])
})

test('a delivery that another process handles gets 503, so that Jeton sends it again', async () => {
  const working = Promise.withResolvers<void>()
  const receive = webhooks.createReceiver(options({ on: { [KIND]: () => working.promise } }))
  const first = receive(await signed('whs_1'))
  expect((await receive(await signed('whs_1'))).status).toBe(503)
  working.resolve()
  expect((await first).status).toBe(204)
  expect((await receive(await signed('whs_1'))).status).toBe(204)
})

test('a handler that throws gets 500, and the next attempt runs it again', async () => {
  let fails = true
  const on = {
    [KIND]: (event: { id: string }) => {
      if (fails) throw new Error('database away')
      handled.push(event.id)
    },
  }
  const receive = webhooks.createReceiver(options({ on }))
  const failed = await receive(await signed('whs_1'))
  expect([failed.status, await failed.text()]).toEqual([500, '{"error":"internal_error"}'])
  expect(errors).toEqual([new Error('database away')])
  fails = false
  expect((await receive(await signed('whs_1'))).status).toBe(204)
  expect(handled).toEqual(['whs_1'])
})

test('a process that was killed between begin and done loses nothing: its lease ends', async () => {
  const seen = webhooks.memorySeenStore()
  // A killed process leaves this behind.
  expect(await seen.begin('whs_1', 150)).toBe('new')
  const receive = webhooks.createReceiver(options({ seen }))
  expect((await receive(await signed('whs_1'))).status).toBe(503)
  await expect.poll(async () => (await receive(await signed('whs_1'))).status).toBe(204)
  expect(handled).toEqual(['whs_1'])
})

test('a store that fails costs no event', async () => {
  const broken = () => Promise.reject(new Error('no connection'))
  const memory = webhooks.memorySeenStore()
  const stores: SeenStore[] = [
    { ...memory, begin: broken },
    { ...memory, done: broken },
  ]
  for (const seen of stores) {
    const receive = webhooks.createReceiver(options({ seen }))
    expect((await receive(await signed())).status).toBe(500)
  }
})

test('a request that is not verified gets 400 with the cause, and runs nothing', async () => {
  const receive = webhooks.createReceiver(options())
  const tampered = await testing.signed(KIND, data, SECRET, { tamper: true })
  const response = await receive(tampered)
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: 'signature_mismatch' })
  const old = await testing.signed(KIND, data, SECRET, { at: new Date(Date.now() - 600_000) })
  expect(await (await receive(old)).json()).toMatchObject({ error: 'timestamp_too_old' })
  const used = await signed()
  await used.text()
  expect(await (await receive(used)).json()).toMatchObject({ error: 'body_not_raw' })
  expect((await receive(new Request('http://x/'))).status).toBe(405)
  expect((await receive(new Request('http://x/', { method: 'POST', body: '{}' }))).status).toBe(400)
  expect(handled).toEqual([])
})

test('a body without end is not read to the end', async () => {
  let sent = 0
  const body = new ReadableStream({
    pull(controller) {
      sent += 65_536
      controller.enqueue(new Uint8Array(65_536))
    },
  })
  const request = new Request('http://x/', { method: 'POST', body, duplex: 'half' } as RequestInit)
  expect((await webhooks.createReceiver(options())(request)).status).toBe(413)
  expect(sent).toBeLessThan(4 * 1024 * 1024)
})

test('an event of an unknown kind is acknowledged, or handled by onUnknown', async () => {
  const unknown = async () => {
    const request = await signed('whs_7')
    const text = (await request.clone().text()).replaceAll(KIND, 'customer.born')
    const { Webhook } = await import('standardwebhooks')
    const at = new Date()
    return new Request('http://x/', {
      method: 'POST',
      body: text,
      headers: {
        'webhook-id': 'whs_7',
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(SECRET).sign('whs_7', at, text),
      },
    })
  }
  expect((await webhooks.createReceiver(options())(await unknown())).status).toBe(204)
  const receive = webhooks.createReceiver(
    options({ onUnknown: (event) => void handled.push(event.event.type) }),
  )
  expect((await receive(await unknown())).status).toBe(204)
  expect(handled).toEqual(['customer.born'])
})

test('a receiver without a store, or with a secret of another kind, does not start', () => {
  expect(() => webhooks.createReceiver(options({ seen: undefined as never }))).toThrow('seen is required')
  expect(() => webhooks.createReceiver(options({ secret: 'jta_x' }))).toThrow('an app token')
})

test('the memory of seen deliveries is limited', async () => {
  const seen = webhooks.memorySeenStore({ max: 2 })
  for (const id of ['1', '2', '3']) {
    await seen.begin(id, 1_000)
    await seen.done(id)
  }
  expect(await seen.begin('3', 1_000)).toBe('done')
  expect(await seen.begin('1', 1_000)).toBe('new')
})

describe('with real deliveries', () => {
  async function startShop(deliver: (request: Request) => Promise<Response>) {
    const jeton = await testing.startJeton({ deliver: (request) => deliver(request) })
    onTestFinished(() => jeton.stop())
    const project = jeton.management.project(jeton.projectId)
    const webhook = await project.webhooks.create({
      target_url: 'https://hooks.example.com/jeton',
      events: [KIND],
    })
    const source = core.createTokenSource({
      baseUrl: jeton.baseUrl,
      key: await jeton.newKey(),
      scope: ['redemptions'],
    })
    const api = core.createFetch(source, { baseUrl: jeton.baseUrl })
    const report = (source_id: string) => core.reportRedemption(api, { source_id, data })
    const statuses = async () => (await project.deliveries.list().page()).data.map(({ status }) => status)
    return { jeton, project, webhook, report, statuses }
  }

  test('a handler that failed gets the event again with the next retry, and a test event is answered 204', async () => {
    let receive: (request: Request) => Promise<Response> = async () => new Response(null, { status: 500 })
    const shop = await startShop((request) => receive(request))
    let fails = true
    const on = {
      [KIND]: (event: { id: string }) => {
        if (fails) throw new Error('not now')
        handled.push(event.id)
      },
    }
    receive = webhooks.createReceiver(
      options({ secret: shop.webhook.secret.reveal(), on, now: shop.jeton.now }),
    )
    const test = await shop.project.webhooks.test(shop.webhook.id, { wait_ms: 5_000 })
    expect(test.attempt?.status).toBe(204)
    await shop.report('order-1')
    await expect.poll(() => errors.length).toBe(1)
    fails = false
    await expect
      .poll(async () => (await shop.project.deliveries.list().page()).data[0]!.attempts_made)
      .toBe(1)
    await shop.jeton.advance(70_000)
    await expect.poll(() => handled.length).toBe(1)
    await expect.poll(shop.statuses).toEqual(['delivered', 'delivered'])
    // A replay has the same id, so it is acknowledged and not handled again.
    const [event] = (await shop.project.events.list().page()).data
    await shop.project.events.replay(event!.id)
    await expect.poll(shop.statuses).toEqual(['delivered', 'delivered'])
    expect(handled).toHaveLength(1)
  })
})

describe('the receiver of Express', () => {
  async function start(isParsedBefore: boolean): Promise<string> {
    const app = express()
    if (isParsedBefore) app.use(express.json())
    app.post('/hook', forExpress.receiveWebhooks(options()))
    const server = app.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    onTestFinished(() => void server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  }

  const post = async (url: string, request: Request) =>
    fetch(url, { method: 'POST', headers: request.headers, body: await request.text() })

  test('reads the raw body itself', async () => {
    const url = await start(false)
    for (let i = 0; i < 2; i++) expect((await post(url, await signed('whs_1'))).status).toBe(204)
    expect(handled).toEqual(['whs_1'])
    const tampered = await testing.signed(KIND, data, SECRET, { tamper: true })
    expect((await post(url, tampered)).status).toBe(400)
  })

  test('says so if express.json() has read the body before', async () => {
    const response = await post(await start(true), await signed())
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: 'body_not_raw' })
  })
})
