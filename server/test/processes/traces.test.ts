import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeHome, type Running, runBinary, serveBinary } from '../binary.ts'
import { type CollectedSpan, type Collector, startCollector } from '../collector.ts'
import { eachEngine } from '../engines.ts'
import { freePort } from '../free-port.ts'
import { ok, openShop } from '../loyalty.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { type Client, clientOf, OPERATOR, type Pair, send } from '../service.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const SENT = `00-${TRACE}-${PARENT}-01`
const KIND = 'customer.reward_redemptions.completed'
const CUSTOMER = 'Zaphod-of-the-body'

let collector: Collector
let receiver: Receiver
const cleanUps: (() => unknown)[] = []
beforeEach(async () => {
  collector = await startCollector()
  receiver = await startReceiver()
})
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  await Promise.all([collector.close(), receiver.close()])
})

interface Traced extends Running {
  readonly url: string
  readonly client: Client
}

const settings = (env: Readonly<Record<string, string>>) => ({
  JETON_MANAGEMENT_ID: OPERATOR.id,
  JETON_MANAGEMENT_TOKEN: OPERATOR.token,
  JETON_SAMPLE: 'off',
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  ...env,
})

async function serve(env: Readonly<Record<string, string>>, args = ['serve']): Promise<Traced> {
  const { folder, remove } = makeHome()
  cleanUps.push(remove)
  const running = await serveBinary({ home: folder, env: settings(env), args })
  cleanUps.push(() => running.stop('SIGKILL'))
  return { ...running, client: clientOf(running.url) }
}

async function work(env: Readonly<Record<string, string>>): Promise<Running> {
  const { folder, remove } = makeHome()
  cleanUps.push(remove)
  const worker = runBinary({ home: folder, env: settings(env), args: ['worker'] })
  cleanUps.push(() => worker.stop('SIGKILL'))
  await worker.printed(/sending events/)
  return worker
}

/** A webhook at the receiver, and a card that can pay for a reward. */
async function openWebhook(client: Client) {
  const shop = await openShop(client)
  const body = { target_url: `${receiver.url}?key=secret-of-the-receiver`, events: [KIND] }
  const webhook = (await client.manage('POST', `/projects/${shop.projectId}/webhooks`, body)).body
  const campaign = `/loyalties/${shop.campaign.id}/members`
  const card = await ok(shop.call('POST', campaign, { customer: { name: CUSTOMER } }))
  await ok(shop.call('POST', `${campaign}/${card.code}/balance`, { points: 1_000 }))
  const reward = await shop.material()
  const redeem = (headers: Record<string, string> = {}) => ok(shop.redeem(card.code, reward.id, {}, headers))
  return { shop, webhook, card, redeem }
}

const named = (spans: readonly CollectedSpan[], name: string): CollectedSpan => {
  const found = spans.filter((span) => span.name === name)
  if (found.length !== 1)
    throw new Error(`${found.length} spans are named ${name}: ${spans.map((span) => span.name).join(', ')}`)
  return found[0]!
}

const REDEEM = 'POST /v1/loyalties/:campaignId/members/:memberId/redemption'

eachEngine((engine) => {
  const system = engine.name === 'SQLite' ? 'sqlite' : 'postgresql'

  test('a redemption is one trace from the caller to the receiver, although two processes serve it', async () => {
    const env = await engine.settings()
    const service = await serve(env, ['serve', '--no-worker'])
    const worker = await work(env)
    const { webhook, redeem } = await openWebhook(service.client)
    receiver.answer = ({ headers }) => ({ status: headers['x-jeton-attempt'] === '1' ? 500 : 204 })
    await redeem({ traceparent: SENT })
    const [arrived] = await receiver.receivedAtLeast(1)
    expect(await Promise.all([service.stop(), worker.stop()])).toEqual([0, 0])

    const spans = collector.spans.filter(({ traceId }) => traceId === TRACE)
    const request = named(spans, REDEEM)
    expect(request).toMatchObject({
      parentId: PARENT,
      kind: 'SPAN_KIND_SERVER',
      hasFailed: false,
      attributes: {
        'http.request.method': 'POST',
        'http.route': REDEEM.slice('POST '.length),
        'http.response.status_code': 200,
        'jeton.request_id': expect.stringMatching(/^v-[0-9a-f]{18}$/),
      },
      resource: { 'service.name': 'jeton', 'service.instance.id': expect.stringMatching(/^proc_/) },
    })
    const transaction = named(spans, 'transaction')
    expect(transaction).toMatchObject({
      parentId: request.spanId,
      kind: 'SPAN_KIND_CLIENT',
      attributes: { 'db.system.name': system, 'db.operation.name': 'transaction' },
    })
    expect(named(spans, 'insert events')).toMatchObject({
      parentId: transaction.spanId,
      attributes: { 'db.system.name': system, 'db.operation.name': 'insert', 'db.collection.name': 'events' },
    })
    const attempt = named(spans, 'deliver event')
    expect(attempt).toMatchObject({
      parentId: request.spanId,
      kind: 'SPAN_KIND_CLIENT',
      hasFailed: true,
      attributes: {
        'http.request.method': 'POST',
        'server.address': '127.0.0.1',
        'server.port': Number(new URL(receiver.url).port),
        'http.response.status_code': 500,
        'error.type': '500',
        'jeton.delivery.id': arrived!.headers['webhook-id'],
        'jeton.delivery.attempt': 1,
      },
    })
    // Each process has its own id.
    expect(attempt.resource['service.instance.id']).not.toBe(request.resource['service.instance.id'])
    expect(arrived!.headers.traceparent).toBe(`00-${TRACE}-${attempt.spanId}-01`)
    new Webhook(webhook.secret).verify(arrived!.body, arrived!.headers as Record<string, string>)
  })

  test('no exported byte contains a secret, a token, a query value or a value of a body', async () => {
    const env: Record<string, string> = {
      ...(await engine.settings()),
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=secret-of-the-collector',
    }
    const service = await serve(env)
    const { client } = service
    const { shop, webhook, card, redeem } = await openWebhook(client)
    const access = (await client.issue(shop.pair, 'loyalties')).body.access_token
    await client.introspect(shop.pair, access)
    await client.issue({ ...shop.pair, appToken: 'jta_wrong-secret' })
    await send(`${service.url}/gateway/authorize/v1/vouchers/path-value?q=query-value`, {
      headers: { authorization: `Bearer ${access}` },
    })
    await send(`${service.url}/unknown-path-value/${access}?token=${access}`)
    await client.manage('GET', `/projects?name=query-value`)
    await client.manage('POST', '/projects', { name: 'body-value', nonsense: 'body-value' })
    await redeem({ traceparent: SENT, 'idempotency-key': 'idempotency-value' })
    await receiver.receivedAtLeast(1)
    await service.stop()

    expect(collector.headers[0]).toMatchObject({ path: '/v1/traces', 'api-key': 'secret-of-the-collector' })
    // Otherwise the search below has searched nothing.
    expect(collector.spans.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        REDEEM,
        'POST /v1/oauth/token',
        'deliver event',
        'GET /management/v1/projects',
        'GET',
      ]),
    )
    const exported = Buffer.concat(collector.bodies).toString('latin1')
    expect(exported).toContain('http.route')
    const secrets = [
      access,
      shop.pair.appToken,
      shop.pair.appId,
      OPERATOR.token,
      webhook.secret,
      'jta_wrong-secret',
    ]
    const values = [
      'query-value',
      'path-value',
      'body-value',
      'idempotency-value',
      CUSTOMER,
      card.code,
      card.holder_id,
    ]
    const inSettings = [
      'secret-of-the-receiver',
      'secret-of-the-collector',
      env.JETON_DATABASE_URL ?? '/data/jeton.db',
    ]
    for (const secret of [...secrets, ...values, ...inSettings]) expect(exported).not.toContain(secret)
  })
})

const introspections = async (client: Client, pair: Pair, count: number) => {
  const token = (await client.issue(pair)).body.access_token
  for (let done = 0; done < count; done += 50) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => client.introspect(pair, token)))
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200))
  }
}

async function droppedSpans({ url }: Traced, reason: string): Promise<number> {
  const { text } = await send(`${url}/metrics`)
  return Number(new RegExp(`jeton_trace_spans_dropped_total{reason="${reason}"} (\\d+)`).exec(text)?.[1] ?? 0)
}

const pairOf = async (client: Client) => client.key((await client.project('Club')).id)

describe('a collector that', () => {
  test('is down costs only spans: they are counted, and logged at most once per minute', async () => {
    const service = await serve({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '200',
    })
    const pair = await pairOf(service.client)
    await introspections(service.client, pair, 600)
    await expect.poll(() => droppedSpans(service, 'export_failed')).toBeGreaterThan(500)
    await introspections(service.client, pair, 600)
    await expect.poll(() => droppedSpans(service, 'export_failed')).toBeGreaterThan(1_000)
    expect(await service.stop()).toBe(0)
    const lines = service
      .stdout()
      .split('\n')
      .filter((line) => line.includes('trace spans were dropped'))
    expect(lines).toEqual([expect.stringContaining('ECONNREFUSED')])
  })

  test('never answers delays no request and no shutdown, and the number of spans in memory is bounded', async () => {
    collector.isAnswering = false
    const service = await serve({})
    const pair = await pairOf(service.client)
    await introspections(service.client, pair, 3_000)
    expect(await droppedSpans(service, 'queue_full')).toBeGreaterThan(0)
    const before = performance.now()
    expect(await service.stop()).toBe(0)
    expect(performance.now() - before, 'the exporter itself would wait for 10 s').toBeLessThan(8_000)
  })
})

test('the standard variables decide what is exported, and probes are never traced', async () => {
  const service = await serve({
    OTEL_SERVICE_NAME: 'loyalty-tokens',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.version=7',
    OTEL_TRACES_SAMPLER: 'parentbased_always_off',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
  })
  const pair = await pairOf(service.client)
  for (const path of ['/health/live', '/health/ready', '/metrics'])
    expect((await send(service.url + path, { headers: { traceparent: SENT } })).status).toBe(200)
  await service.client.issue(pair, 'vouchers')
  await service.client.issue(pair, 'vouchers', { traceparent: SENT.replace(/01$/, '00') })
  await service.client.issue(pair, 'vouchers', { traceparent: SENT })
  await service.stop()
  expect(collector.spans.map(({ name, traceId, parentId }) => ({ name, traceId, parentId }))).toEqual([
    { name: 'POST /v1/oauth/token', traceId: TRACE, parentId: PARENT },
  ])
  expect(collector.spans[0]!.resource).toMatchObject({
    'service.name': 'loyalty-tokens',
    'service.version': '7',
    'deployment.environment.name': 'test',
  })
  expect(service.stdout()).toContain('OTEL_EXPORTER_OTLP_PROTOCOL')
})

test('without OTEL_EXPORTER_OTLP_ENDPOINT no module of OpenTelemetry is loaded', async () => {
  const hook = pathToFileURL(join(import.meta.dirname, '../record-modules.ts')).href
  const modulesOf = async (endpoint: string): Promise<string[]> => {
    const { folder, remove } = makeHome()
    cleanUps.push(remove)
    const file = join(folder, 'modules')
    const service = await serve({
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_SERVICE_NAME: 'set-for-other-programs',
      NODE_OPTIONS: `--import=${hook}`,
      LOADED_MODULES: file,
    })
    const { redeem } = await openWebhook(service.client)
    const before = receiver.received.length
    await redeem({ traceparent: SENT })
    await receiver.receivedAtLeast(before + 1)
    await service.stop()
    return readFileSync(file, 'utf8').split('\n')
  }
  const isTracing = (url: string) => /opentelemetry/.test(url)
  const without = await modulesOf('')
  expect(without.filter(isTracing)).toEqual([])
  expect(without.some((url) => url.includes('/fastify/'))).toBe(true)
  expect((await modulesOf(collector.url)).filter(isTracing)).not.toEqual([])
})
