import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { redemptionData } from '../../server/test/reported-redemption.ts'
import type { CompletedRedemption, KeyPair } from '../src/index.ts'
import type { TestJeton } from '../src/testing/index.ts'
import { core, testing } from './installed.ts'

const KIND = 'customer.reward_redemptions.completed'
const data = redemptionData() as CompletedRedemption['data']
const examples = join(inject('sdkProject'), 'examples')
let jeton: TestJeton
let key: KeyPair & { id: string }
/** Where deliveries go. */
let receiverUrl: string | undefined

/** Delivers as the server does, over a socket. */
async function deliver(request: Request): Promise<Response> {
  if (!receiverUrl) return new Response(null, { status: 503 })
  return fetch(receiverUrl, { method: 'POST', headers: request.headers, body: await request.text() })
}

beforeAll(async () => {
  cpSync(fileURLToPath(new URL('../examples', import.meta.url)), examples, { recursive: true })
  jeton = await testing.startJeton({ deliver })
  key = await jeton.newKey()
})
afterAll(() => jeton.stop())

const environment = () => ({
  ...process.env,
  JETON_URL: jeton.baseUrl,
  JETON_PROJECT_ID: jeton.projectId,
  APP_ID: key.appId,
  APP_TOKEN: key.appToken,
  PORT: '0',
  NODE_NO_WARNINGS: '1',
})

interface Running {
  readonly url: string
  readonly child: ChildProcess
}

/** Starts an example and waits for its address. */
async function start(file: string, env: Record<string, string> = {}): Promise<Running> {
  const child = spawn(process.execPath, [join(examples, file)], {
    env: { ...environment(), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  for await (const line of createInterface({ input: child.stdout! })) {
    const [, url] = /^listening on (\S+)$/.exec(line) ?? []
    if (url) return { url, child }
  }
  throw new Error(`${file} did not start`)
}

const tokenOf = async (pair: KeyPair, scope: 'rewards' | 'vouchers' | 'redemptions'): Promise<string> =>
  (await core.createTokenSource({ baseUrl: jeton.baseUrl, key: pair, scope: [scope] }).get()).value

describe.each(['express-api.js', 'fastify-api.js', 'hono-api.js'])('%s', (file) => {
  test('answers callers with the scope, and refuses the others', async () => {
    const { url } = await start(file)
    const call = (token: string, headers: Record<string, string> = {}) =>
      fetch(`${url}/rewards`, { headers: { authorization: `Bearer ${token}`, ...headers } })
    const own = await tokenOf(key, 'rewards')
    // On a busy machine the first answer of Jeton may come too late for the guard.
    await expect.poll(async () => (await call(own)).status).toBe(200)
    const allowed = await call(own)
    expect(await allowed.json()).toEqual({ client: expect.stringMatching(/^cl_/), rewards: ['Mug'] })
    expect((await call(await tokenOf(key, 'vouchers'))).status).toBe(403)
    expect((await fetch(`${url}/rewards`)).status).toBe(401)
    const elsewhere = await jeton.newKey()
    const token = await tokenOf(elsewhere, 'rewards')
    const { keys } = jeton.management.project(jeton.projectId)
    await keys.update(elsewhere.id, { ip_whitelist: ['203.0.113.7'] })
    expect((await call(token, { 'x-forwarded-for': '203.0.113.7' })).status).toBe(403)
  })
})

/** A warehouse that counts orders by their number, and answers when the test wants. */
async function startWarehouse() {
  const orders: string[] = []
  let isOpen = true
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    orders.push(JSON.parse(body).order)
    if (isOpen) response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.closeAllConnections())
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const setOpen = (value: boolean) => {
    isOpen = value
  }
  return { url, orders, setOpen }
}

test('receiver.js handles a redemption once, survives duplicates, and loses nothing when it is killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'jeton-receiver-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const project = jeton.management.project(jeton.projectId)
  const webhook = await project.webhooks.create({ target_url: 'https://hooks.example.com/', events: [KIND] })
  const warehouse = await startWarehouse()
  const env = {
    WEBHOOK_SECRET: webhook.secret.reveal(),
    WAREHOUSE_URL: warehouse.url,
    DATABASE: join(folder, 'receiver.db'),
    LEASE_MS: '2000',
  }
  const source = core.createTokenSource({ baseUrl: jeton.baseUrl, key, scope: ['redemptions'] })
  const api = core.createFetch(source, { baseUrl: jeton.baseUrl })
  const statusOf = async (eventId: string) =>
    (await project.deliveries.list({ event: eventId }).page()).data[0]?.status

  const first = await start('receiver.js', env)
  receiverUrl = `${first.url}/hook`
  const { eventId } = await core.reportRedemption(api, { source_id: 'order-1', data })
  await expect.poll(() => statusOf(eventId)).toBe('delivered')
  await project.events.replay(eventId)
  await expect.poll(() => statusOf(eventId)).toBe('delivered')
  expect(warehouse.orders).toEqual(['rewr_1'])

  warehouse.setOpen(false)
  const second = { ...data, reward_redemption: { ...data.reward_redemption, id: 'rewr_2' } }
  const killed = await core.reportRedemption(api, { source_id: 'order-2', data: second })
  await expect.poll(() => warehouse.orders).toEqual(['rewr_1', 'rewr_2'])
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  warehouse.setOpen(true)
  const again = await start('receiver.js', env)
  receiverUrl = `${again.url}/hook`
  await expect.poll(() => statusOf(killed.eventId)).toBe('pending')
  await expect
    .poll(async () => {
      await project.events.replay(killed.eventId).catch(() => undefined)
      return statusOf(killed.eventId)
    })
    .toBe('delivered')
  expect(warehouse.orders).toEqual(['rewr_1', 'rewr_2', 'rewr_2'])
})

test('batch-job.js gives its token back', async () => {
  const own = await jeton.newKey({ token_limit: 1 })
  const env = { ...environment(), APP_ID: own.appId, APP_TOKEN: own.appToken }
  for (let i = 0; i < 2; i++) {
    const { stdout } = await promisify(execFile)(process.execPath, [join(examples, 'batch-job.js')], { env })
    expect(stdout).toBe('0 customers\n')
  }
  expect((await jeton.management.project(jeton.projectId).keys.get(own.id)).active_tokens).toBe(0)
})

test('expiry.test.js passes', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--test', join(examples, 'expiry.test.js')],
    {
      env: { ...environment(), NODE_TEST_CONTEXT: undefined },
    },
  )
  expect(stdout).toMatch(/pass 1\n/)
})
