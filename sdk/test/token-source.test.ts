import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { TokenSource, TokenSourceEvent, TokenSourceOptions } from '../src/index.ts'
import type { NewKeyOptions, TestJeton } from '../src/testing/index.ts'
import { core, testing } from './installed.ts'
import { startProxy, type TestProxy } from './proxy.ts'

const TOKEN = '/v1/oauth/token'
let jeton: TestJeton
let proxy: TestProxy
let events: TokenSourceEvent[] = []

beforeAll(async () => {
  jeton = await testing.startJeton()
  proxy = await startProxy(jeton.baseUrl)
})
afterAll(async () => {
  await proxy.close()
  await jeton.stop()
})
beforeEach(() => {
  proxy.behaviour = 'forward'
  proxy.requests.length = 0
  events = []
})

interface Made {
  readonly source: TokenSource
  readonly keyId: string
}

/** A source with its own key, on the clock of the server. */
async function newSource(
  options: Partial<TokenSourceOptions> = {},
  fields: NewKeyOptions = {},
): Promise<Made> {
  const key = await jeton.newKey(fields)
  const source = core.createTokenSource({
    baseUrl: proxy.url,
    key,
    scope: ['loyalties', 'rewards'],
    now: jeton.now,
    onEvent: (event) => events.push(event),
    ...options,
  })
  onTestFinished(() => source.close())
  return { source, keyId: key.id }
}

async function activeTokens(keyId: string): Promise<number> {
  return (await jeton.management.project(jeton.projectId).keys.get(keyId)).active_tokens
}

const LIFE_MS = 900_000

test('a thousand concurrent callers cost one token', async () => {
  const { source, keyId } = await newSource()
  const tokens = await Promise.all(Array.from({ length: 1_000 }, () => source.get()))
  expect(new Set(tokens.map(({ value }) => value)).size).toBe(1)
  expect(await activeTokens(keyId)).toBe(1)
  expect(tokens[0]).toMatchObject({
    scope: ['loyalties', 'rewards'],
    clientId: expect.stringMatching(/^cl_/),
  })
  expect(tokens[0]!.remainingMs()).toBeGreaterThan(890_000)
  expect(tokens[0]!.remainingMs()).toBeLessThan(900_000)
})

test('the value of a token is not in its JSON and not in a log', async () => {
  const { inspect } = await import('node:util')
  const token = await (await newSource()).source.get()
  expect(token.value).toMatch(/^jtn_/)
  expect(JSON.stringify(token) + inspect(token, { showHidden: true })).not.toContain(token.value)
})

test('a token is refreshed in the background between 72 % and 88 % of its life, and the old one serves meanwhile', async () => {
  const { source, keyId } = await newSource()
  const first = await source.get()
  await jeton.advance(0.71 * LIFE_MS)
  expect((await source.get()).value).toBe(first.value)
  expect(proxy.count(TOKEN)).toBe(1)
  await jeton.advance(0.18 * LIFE_MS)
  const served = await Promise.all(Array.from({ length: 100 }, () => source.get()))
  expect(served.every(({ value }) => value === first.value)).toBe(true)
  await expect.poll(async () => (await source.get()).value).not.toBe(first.value)
  expect(proxy.count(TOKEN)).toBe(2)
  expect(await activeTokens(keyId)).toBe(2)
})

test('sources do not refresh at the same moment', async () => {
  const made = await Promise.all(Array.from({ length: 20 }, () => newSource()))
  await Promise.all(made.map(({ source }) => source.get()))
  expect(proxy.count(TOKEN)).toBe(20)
  await jeton.advance(0.8 * LIFE_MS)
  await Promise.all(made.map(({ source }) => source.get()))
  // Closing waits for the requests in flight.
  await Promise.all(made.map(({ source }) => source.close()))
  expect(proxy.count(TOKEN)).toBeGreaterThan(20)
  expect(proxy.count(TOKEN)).toBeLessThan(40)
})

test('a refresh during an outage keeps serving the old token until its end, and then reports the outage', async () => {
  const { source } = await newSource()
  const first = await source.get()
  await jeton.advance(0.9 * LIFE_MS)
  proxy.behaviour = 'refuse'
  for (let i = 0; i < 50; i++) expect((await source.get()).value).toBe(first.value)
  await expect.poll(() => events.some(({ type }) => type === 'unavailable')).toBe(true)
  for (let i = 0; i < 50; i++) expect((await source.get()).value).toBe(first.value)
  // Failed refreshes are not repeated for every caller.
  expect(proxy.count(TOKEN)).toBe(2)
  expect(events.find(({ type }) => type === 'unavailable')).toMatchObject({
    servingOldForMs: expect.any(Number),
  })
  await jeton.advance(0.09 * LIFE_MS)
  expect((await source.get()).value).toBe(first.value)
  await jeton.advance(0.01 * LIFE_MS)
  await expect(source.get()).rejects.toMatchObject({ name: 'JetonUnavailable' })
  proxy.behaviour = 'forward'
  expect((await source.get()).value).not.toBe(first.value)
})

test('a Jeton that does not answer costs a caller no more than the timeout', async () => {
  const { source } = await newSource({ timeoutMs: 200 })
  proxy.behaviour = 'hang'
  const started = performance.now()
  await expect(source.get()).rejects.toBeInstanceOf(core.JetonUnavailable)
  expect(performance.now() - started).toBeLessThan(2_000)
})

test('an answer that is not a token, such as the page of a proxy, is unavailability and not a refusal', async () => {
  const { source } = await newSource()
  for (const [status, body] of [
    [200, '<html>'],
    [200, '{"access_token":"x"}'],
    [403, '<html>'],
    [502, ''],
    [302, ''],
  ] as const) {
    proxy.behaviour = (_, response) => response.writeHead(status, { location: '/x' }).end(body)
    await expect(source.get()).rejects.toBeInstanceOf(core.JetonUnavailable)
  }
})

test('a caller whose signal fires stops waiting, and the others get the token of the same request', async () => {
  const { source } = await newSource()
  const controller = new AbortController()
  const [aborted, other] = [source.get({ signal: controller.signal }), source.get()]
  controller.abort(new Error('no longer needed'))
  await expect(aborted).rejects.toThrow('no longer needed')
  expect((await other).value).toMatch(/^jtn_/)
  expect(proxy.count(TOKEN)).toBe(1)
})

test('a refusal names its key, the request and the page about it', async () => {
  const { source } = await newSource({}, { permissions: ['vouchers'] })
  const error = await source.get().catch((one: unknown) => one)
  if (!core.JetonError.is(error, 'invalid_scope', 'unauthorized')) throw error
  const key: 'invalid_scope' | 'unauthorized' = error.key
  expect(key).toBe('invalid_scope')
  expect(error).toMatchObject({
    status: 400,
    requestId: expect.stringMatching(/^v-/),
    details: expect.any(String),
  })
  expect(error.docUrl).toContain('invalid_scope')
  expect(core.JetonError.is(error, 'unauthorized')).toBe(false)
  expect(core.JetonError.is(new Error('x'))).toBe(false)
})

test('a key that is a function is read before every request, so that a rotated secret is used', async () => {
  const { id, ...old } = await jeton.newKey()
  let pair = old
  const { source } = await newSource({ key: async () => pair })
  const first = await source.get()
  const keys = jeton.management.project(jeton.projectId).keys
  pair = { ...pair, appToken: (await keys.regenerate(id)).app_token.reveal() }
  source.forget(first)
  expect((await source.get()).value).not.toBe(first.value)
})

test('forgetting an old token leaves the newer one', async () => {
  const { source } = await newSource()
  const first = await source.get()
  source.forget(first)
  const second = await source.get()
  source.forget(first)
  expect((await source.get()).value).toBe(second.value)
})

test('closing revokes the token, so that its place in the limit is free', async () => {
  const { source, keyId } = await newSource({}, { token_limit: 1 })
  await source.get()
  expect(await activeTokens(keyId)).toBe(1)
  await source.close()
  expect(await activeTokens(keyId)).toBe(0)
  await expect(source.get()).rejects.toThrow('closed')
})

test('closing while a token is requested leaves no token behind', async () => {
  const { source, keyId } = await newSource()
  const pending = source.get()
  await source.close()
  await pending
  expect(await activeTokens(keyId)).toBe(0)
})

test('a listener of events that throws does not cost the caller its token', async () => {
  const { source } = await newSource({
    onEvent: () => {
      throw new Error('listener')
    },
  })
  expect((await source.get()).value).toMatch(/^jtn_/)
})

test('a credential that fits into no header is a mistake of the caller, and is not reported as an outage', async () => {
  const source = core.createTokenSource({
    baseUrl: proxy.url,
    key: { appId: 'a\nb', appToken: 'c' },
    scope: [],
  })
  const error = await source.get().catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(TypeError)
  expect(proxy.requests).toEqual([])
})
