import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Guard, GuardOptions } from '../src/guard/index.ts'
import type { KeyPair } from '../src/index.ts'
import type { TestJeton } from '../src/testing/index.ts'
import { core, guarding, testing } from './installed.ts'
import { startProxy, type TestProxy } from './proxy.ts'

const ADDRESS = '203.0.113.7'
const GATEWAY = '/gateway/authorize'
let jeton: TestJeton
let proxy: TestProxy
let key: KeyPair & { id: string }
let token: string

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
  token = await issue(key)
})

const newGuard = (options: Partial<GuardOptions> = {}): Guard =>
  guarding.createGuard({ baseUrl: proxy.url, projectId: jeton.projectId, now: jeton.now, ...options })

async function issue(pair: KeyPair): Promise<string> {
  const source = core.createTokenSource({ baseUrl: jeton.baseUrl, key: pair, scope: ['rewards'] })
  return (await source.get()).value
}

async function outcome(guard: Guard, value = token): Promise<string> {
  const verdict = await guard.check({ authorization: `Bearer ${value}`, scope: 'rewards', address: ADDRESS })
  return verdict.allowed ? 'allowed' : `${verdict.status} ${verdict.reason}`
}

const block = () => jeton.management.project(jeton.projectId).keys.block(key.id, { reason: 'leaked' })

describe('while an answer is remembered', () => {
  test('a token that expires is refused at its end, with the longest memory', async () => {
    const guard = newGuard({ maxAgeMs: 25_000 })
    await jeton.advance(880_000)
    expect(await outcome(guard)).toBe('allowed')
    await jeton.advance(15_000)
    expect(await outcome(guard)).toBe('allowed')
    await jeton.advance(5_000)
    expect(await outcome(guard)).toBe('401 inactive')
  })

  test('a token with less than a second left is not remembered at all', async () => {
    const guard = newGuard({ maxAgeMs: 25_000 })
    const aligned = await issue(key)
    const left = async () => Number((await gateway(aligned)).headers.get('x-jeton-expires-in'))
    await jeton.advance(((await left()) - 1) * 1_000)
    while ((await left()) > 0) await jeton.advance(100)
    proxy.requests.length = 0
    expect([await outcome(guard, aligned), await outcome(guard, aligned)]).toEqual(['allowed', 'allowed'])
    expect(proxy.count(GATEWAY)).toBe(2)
  })

  test('a key that is blocked is refused after maxAgeMs, counted from when the question was sent', async () => {
    const guard = newGuard({ maxAgeMs: 2_000, timeoutMs: 5_000 })
    // Jeton decides at once, and its answer arrives 1.5 s later.
    proxy.behaviour = async (incoming, response) => {
      const answer = await gateway(token, incoming.headers['x-forwarded-for'] as string)
      await block()
      await jeton.advance(1_500)
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end()
    }
    expect(await outcome(guard)).toBe('allowed')
    proxy.behaviour = 'forward'
    await jeton.advance(499)
    expect(proxy.count(GATEWAY)).toBe(1)
    await jeton.advance(2)
    expect(await outcome(guard)).toBe('401 inactive')
  })

  test('with maxAgeMs 0 a call never uses the answer to another call, not even one in flight', async () => {
    const guard = newGuard({ maxAgeMs: 0, timeoutMs: 10_000 })
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    proxy.behaviour = async (incoming, response) => {
      const answer = await gateway(token, incoming.headers['x-forwarded-for'] as string)
      await held
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end()
    }
    const first = outcome(guard)
    await expect.poll(() => proxy.count(GATEWAY)).toBe(1)
    await block()
    const second = outcome(guard)
    await expect.poll(() => proxy.count(GATEWAY)).toBe(2)
    release()
    expect([await first, await second]).toEqual(['allowed', '401 inactive'])
  })

  test('a machine that slept does not trust an answer from before', async () => {
    // The monotonic clock stands still while a machine sleeps; only the wall clock shows it.
    const guard = newGuard({ maxAgeMs: 25_000, now: () => 1_000 })
    expect(await outcome(guard)).toBe('allowed')
    await block()
    const { now } = Date
    Date.now = () => now() + 60_000
    try {
      expect(await outcome(guard)).toBe('401 inactive')
    } finally {
      Date.now = now
    }
  })

  test('memory holds at most cacheSize answers and never a token', async () => {
    const guard = newGuard({ cacheSize: 2 })
    const tokens = await Promise.all(Array.from({ length: 3 }, () => issue(key)))
    for (const one of tokens) await outcome(guard, one)
    proxy.requests.length = 0
    for (const one of [tokens[1]!, tokens[2]!]) await outcome(guard, one)
    expect(proxy.count(GATEWAY)).toBe(0)
    await outcome(guard, tokens[0])
    expect(proxy.count(GATEWAY)).toBe(1)
  })
})

const gateway = (value: string, address = ADDRESS) =>
  fetch(`${jeton.baseUrl}${GATEWAY}?scope=rewards`, {
    headers: { authorization: `Bearer ${value}`, 'x-forwarded-for': address },
  })

describe('a Jeton that', () => {
  test('closes the connection lets nobody in', async () => {
    proxy.behaviour = 'refuse'
    expect(await outcome(newGuard())).toBe('503 unavailable')
  })

  test('does not answer lets nobody in, and costs a caller no more than the timeout', async () => {
    proxy.behaviour = 'hang'
    const started = performance.now()
    expect(await outcome(newGuard({ timeoutMs: 200 }))).toBe('503 unavailable')
    expect(performance.now() - started).toBeLessThan(2_000)
  })

  test('answers too slowly lets nobody in, and its late answer is not remembered', async () => {
    const guard = newGuard({ timeoutMs: 100 })
    const late = Promise.withResolvers<void>()
    proxy.behaviour = async (_, response) => {
      const answer = await gateway(token)
      await late.promise
      response.writeHead(200, Object.fromEntries(answer.headers)).end()
    }
    expect(await outcome(guard)).toBe('503 unavailable')
    late.resolve()
    proxy.behaviour = 'refuse'
    expect(await outcome(guard)).toBe('503 unavailable')
  })

  test.each([
    ['500 with a page', 500, '<html>'],
    ['200 with a page', 200, '<html>'],
    ['200 with an introspection', 200, '{"active":true}'],
    ['204', 204, ''],
    ['302 to a page that would allow', 302, ''],
    ['401 of a proxy', 401, '<html>'],
    ['403 of a proxy', 403, '<html>'],
    ['404', 404, '{"key":"not_found"}'],
    ['429', 429, ''],
  ])('answers nonsense lets nobody in: %s', async (_, status, body) => {
    proxy.behaviour = (__, response) =>
      response.writeHead(status, { location: `${jeton.baseUrl}/` }).end(body)
    expect(await outcome(newGuard())).toBe('503 unavailable')
  })

  test('answers without end is not read to the end', async () => {
    proxy.behaviour = (_, response) => {
      response.writeHead(401, { 'x-jeton-error': '{"key":"unauthorized"}' })
      const write = () => {
        while (response.write('x'.repeat(65_536)));
        response.once('drain', write)
      }
      write()
    }
    expect(await outcome(newGuard())).toBe('401 inactive')
  })

  test('cannot put text of its choice into a response of the API', async () => {
    proxy.behaviour = (_, response) =>
      response
        .writeHead(401, {
          'x-jeton-error': '{"key":"<script>"}',
          'x-request-id': '<script>',
          'www-authenticate': 'x',
        })
        .end('<script>')
    const guard = newGuard()
    const verdict = await guard.check({
      authorization: `Bearer ${token}`,
      scope: 'rewards',
      address: ADDRESS,
    })
    expect(JSON.stringify(verdict)).not.toContain('<script>')
  })
})

test('a header that a caller forges does not change what Jeton is asked', async () => {
  const restricted = await jeton.newKey({ ip_whitelist: ['127.0.0.1', '198.51.100.1'] })
  const allowed = await issue(restricted)
  const guard = newGuard()
  const handle = guard.handler(
    'rewards',
    () => ADDRESS,
    async () => new Response('in'),
  )
  const forged = {
    authorization: `Bearer ${allowed}`,
    'x-forwarded-for': '198.51.100.1',
    forwarded: 'for=198.51.100.1',
    'x-real-ip': '198.51.100.1',
    'x-original-uri': '/v1/vouchers',
    'x-jeton-key-id': 'key_forged',
    'x-jeton-address': ADDRESS,
  }
  expect((await handle(new Request('http://api.example/rewards', { headers: forged }))).status).toBe(403)
  expect(proxy.requests).toHaveLength(1)
  expect(proxy.requests[0]).toMatchObject({
    url: `${GATEWAY}?scope=rewards`,
    headers: { authorization: `Bearer ${allowed}`, 'x-forwarded-for': ADDRESS },
  })
  expect(
    Object.keys(proxy.requests[0]!.headers).filter((name) =>
      /forwarded$|real-ip|original|x-jeton/.test(name),
    ),
  ).toEqual([])
})

test('a scope or an address cannot smuggle another question into the request', async () => {
  for (const scope of ['rewards&scope=api', 'rewards#', 'rewards/../x', 'api vouchers', '', 'é'])
    await newGuard().check({ authorization: `Bearer ${token}`, scope: scope as 'rewards', address: ADDRESS })
  for (const { url } of proxy.requests)
    expect(new URL(url, jeton.baseUrl).searchParams.getAll('scope')).toHaveLength(1)
  for (const address of [
    `${ADDRESS}\r\nX-Original-URI: /v1/x`,
    `${ADDRESS}\0`,
    `${ADDRESS} `,
    ' ::1',
    '[::1]',
    '::1/128',
  ])
    expect(
      await newGuard().check({ authorization: `Bearer ${token}`, scope: 'rewards', address }),
    ).toMatchObject({
      reason: 'address_unknown',
    })
})

test('two Authorization headers are one wrong token', async () => {
  const handle = newGuard().handler(
    'rewards',
    () => ADDRESS,
    async () => new Response('in'),
  )
  const headers = new Headers({ authorization: `Bearer ${token}` })
  headers.append('authorization', `Bearer ${token}`)
  expect((await handle(new Request('http://api.example/', { headers }))).status).toBe(401)
})

test('a port where nobody listens lets nobody in', async () => {
  const gone = await startProxy(jeton.baseUrl)
  await gone.close()
  expect(await outcome(newGuard({ baseUrl: gone.url }))).toBe('503 unavailable')
})
