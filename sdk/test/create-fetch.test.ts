import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { KeyPair, TokenSource } from '../src/index.ts'
import type { TestJeton } from '../src/testing/index.ts'
import { core, testing } from './installed.ts'
import { startProxy, type TestProxy } from './proxy.ts'

const TOKEN = '/v1/oauth/token'
let jeton: TestJeton
let proxy: TestProxy
let key: KeyPair & { id: string }
let source: TokenSource

beforeAll(async () => {
  jeton = await testing.startJeton()
  proxy = await startProxy(jeton.baseUrl)
})
afterAll(async () => {
  await proxy.close()
  await jeton.stop()
})
beforeEach(async () => {
  proxy.behaviour = 'forward'
  proxy.requests.length = 0
  key = await jeton.newKey()
  source = core.createTokenSource({ baseUrl: jeton.baseUrl, key, scope: ['api'] })
  onTestFinished(() => source.close())
})

const revokeTokens = () => jeton.management.project(jeton.projectId).keys.revokeTokens(key.id)
const api = () => core.createFetch(source, { baseUrl: proxy.url })

test('a call carries the token, with a relative URL, an absolute URL of the API or a Request', async () => {
  const call = api()
  const headers = { 'x-own': '1' }
  for (const input of ['/v1/rewards', `${proxy.url}/v1/rewards`, new URL('/v1/rewards', proxy.url)])
    expect((await call(input, { headers })).status).toBe(200)
  expect((await call(new Request(`${proxy.url}/v1/rewards`, { headers }))).status).toBe(200)
  const { value } = await source.get()
  for (const request of proxy.requests)
    expect([request.headers.authorization, request.headers['x-own']]).toEqual([`Bearer ${value}`, '1'])
})

test('the token is never sent to another origin', async () => {
  const other = await startProxy(jeton.baseUrl)
  onTestFinished(() => other.close())
  const call = api()
  const { host, port } = new URL(other.url)
  for (const input of [
    other.url,
    `//${host}/v1/rewards`,
    `\\\\${host}/v1/rewards`,
    `/\\${host}/v1/rewards`,
    `http://${new URL(proxy.url).host}@${host}/`,
    `http://localhost:${port}/`,
    proxy.url.replace('http:', 'https:'),
    new Request(other.url),
    'data:text/plain,x',
  ])
    await expect(call(input)).rejects.toThrow('must not be sent')
  expect([...proxy.requests, ...other.requests]).toEqual([])
})

test('a redirect of the API is not followed, so that the token does not leave with it', async () => {
  const other = await startProxy(jeton.baseUrl)
  onTestFinished(() => other.close())
  proxy.behaviour = (_, response) => response.writeHead(302, { location: `${other.url}/v1/rewards` }).end()
  expect((await api()('/v1/rewards')).status).toBe(302)
  expect(other.requests).toEqual([])
})

test('a call whose token was revoked is repeated once with a new token', async () => {
  const call = api()
  await call('/v1/rewards')
  await revokeTokens()
  expect((await call('/v1/rewards')).status).toBe(200)
  expect(proxy.count('/v1/rewards')).toBe(3)
  await revokeTokens()
  expect((await call(new Request(`${proxy.url}/v1/rewards`))).status).toBe(200)
})

test('a POST is never repeated: the caller sees the 401, and its next call has a new token', async () => {
  const call = api()
  await call('/v1/rewards')
  await revokeTokens()
  const post = () =>
    call('/v1/customers', {
      method: 'post',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"Ann"}',
    })
  expect((await post()).status).toBe(401)
  expect(proxy.count('/v1/customers')).toBe(1)
  expect((await post()).status).toBe(200)
  await revokeTokens()
  const request = new Request(`${proxy.url}/v1/customers`, { method: 'POST', body: '{}' })
  expect((await call(request)).status).toBe(401)
})

test('a body that can be read only once is not sent twice', async () => {
  const call = api()
  await call('/v1/rewards')
  await revokeTokens()
  const body = new Blob(['{}']).stream()
  const response = await call('/v1/customers/x', { method: 'PUT', body, duplex: 'half' } as RequestInit)
  expect(response.status).toBe(401)
  expect(proxy.count('/v1/customers/x')).toBe(1)
})

test('a 401 that does not blame the token, and a 403, cost no new token', async () => {
  const call = api()
  for (const [status, challenge] of [
    [401, 'Basic realm="x"'],
    [401, 'Bearer'],
    [403, 'Bearer error="invalid_token"'],
  ] as const) {
    proxy.behaviour = (_, response) => response.writeHead(status, { 'www-authenticate': challenge }).end()
    expect((await call('/v1/rewards')).status).toBe(status)
  }
  expect(await tokensIssued()).toBe(1)
})

const tokensIssued = async () =>
  (await jeton.management.project(jeton.projectId).keys.get(key.id)).active_tokens

test('an API that refuses every token costs two tokens, and not one per call', async () => {
  const call = api()
  proxy.behaviour = (_, response) =>
    response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end()
  for (let i = 0; i < 30; i++) expect((await call('/v1/rewards')).status).toBe(401)
  expect(await tokensIssued()).toBe(2)
  // Once the API accepts the token, a later refusal is a reason for a new one again.
  proxy.behaviour = 'forward'
  expect((await call('/v1/rewards')).status).toBe(200)
  await revokeTokens()
  expect((await call('/v1/rewards')).status).toBe(200)
})

test('a refusal of the token endpoint reaches the caller, and the API is not called', async () => {
  await jeton.management.project(jeton.projectId).keys.block(key.id, { reason: 'leaked' })
  const error = await api()('/v1/rewards').catch((one: unknown) => one)
  expect(core.JetonError.is(error, 'api_key_blocked')).toBe(true)
  expect(proxy.requests).toEqual([])
})

test('a call ends with its own signal', async () => {
  proxy.behaviour = 'hang'
  await expect(api()('/v1/rewards', { signal: AbortSignal.timeout(100) })).rejects.toThrow()
  expect(proxy.count(TOKEN)).toBe(0)
})
