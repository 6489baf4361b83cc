import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { KeyPair, TokenSource, TokenSourceOptions } from '../src/index.ts'
import type { TestJeton } from '../src/testing/index.ts'
import { core, testing } from './installed.ts'
import { startProxy, type TestProxy } from './proxy.ts'

const TOKEN = '/v1/oauth/token'
let jeton: TestJeton
let proxy: TestProxy

beforeAll(async () => {
  jeton = await testing.startJeton()
  proxy = await startProxy(jeton.baseUrl)
})
afterAll(async () => {
  await proxy.close()
  await jeton.stop()
})
beforeEach(() => {
  proxy.requests.length = 0
})

function sourceOf(key: KeyPair, options: Partial<TokenSourceOptions> = {}): TokenSource {
  const source = core.createTokenSource({
    baseUrl: proxy.url,
    key,
    scope: ['rewards'],
    now: jeton.now,
    ...options,
  })
  onTestFinished(() => source.close())
  return source
}

test('at the limit a caller is refused at once if the wait exceeds its timeout, and further callers cost no request', async () => {
  const key = await jeton.newKey({ token_limit: 1 })
  await sourceOf(key).get()
  const second = sourceOf(key)
  const error = await second.get().catch((one: unknown) => one)
  if (!core.JetonError.is(error, 'token_limit_reached')) throw error
  expect(error.retryAfterMs).toBeGreaterThan(890_000)
  expect(proxy.count(TOKEN)).toBe(2)
  for (let i = 0; i < 20; i++)
    await expect(second.get()).rejects.toMatchObject({ key: 'token_limit_reached' })
  expect(proxy.count(TOKEN)).toBe(2)
})

test('at the limit a caller waits for Retry-After if its timeout allows', async () => {
  const key = await jeton.newKey({ token_limit: 1 })
  const first = await sourceOf(key).get()
  await jeton.advance(899_000)
  const token = await sourceOf(key, { timeoutMs: 10_000 }).get()
  expect(token.value).not.toBe(first.value)
})

test('at the limit the background refresh waits, and the old token serves', async () => {
  const key = await jeton.newKey({ token_limit: 1 })
  const source = sourceOf(key)
  const first = await source.get()
  await jeton.advance(800_000)
  for (let i = 0; i < 20; i++) expect((await source.get()).value).toBe(first.value)
  await expect.poll(() => proxy.count(TOKEN)).toBe(2)
  await jeton.advance(50_000)
  for (let i = 0; i < 20; i++) expect((await source.get()).value).toBe(first.value)
  expect(proxy.count(TOKEN)).toBe(2)
})
