import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { madeUpToken } from '../../server/test/made-up-token.ts'
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

describe('a flood', () => {
  test('of 10,000 malformed tokens costs no request', async () => {
    const guard = newGuard()
    const flood = Array.from({ length: 10_000 }, (_, i) => outcome(guard, `${token.slice(0, -7)}${i}`))
    expect(new Set(await Promise.all(flood))).toEqual(new Set(['401 malformed']))
    expect(proxy.requests).toEqual([])
  })

  test('of 10,000 well-formed unknown tokens lets none in, opens at most 100 connections, and forgets them all', async () => {
    const guard = newGuard({ timeoutMs: 110_000, maxAgeMs: 25_000, cacheSize: 10 })
    expect(await outcome(guard)).toBe('allowed')
    proxy.requests.length = 0
    proxy.concurrent.most = 0
    proxy.behaviour = (_, response) =>
      response.writeHead(401, { 'x-jeton-error': '{"key":"unauthorized"}' }).end()
    const flood = (count: number) =>
      Promise.all(Array.from({ length: count }, () => outcome(guard, madeUpToken(jeton.projectId))))
    expect(new Set(await flood(1_000))).toEqual(new Set(['401 inactive']))
    // The answer that was remembered before is still there.
    expect(await outcome(guard)).toBe('allowed')
    expect(new Set(await flood(9_000))).toEqual(new Set(['401 inactive']))
    expect(proxy.concurrent.most).toBeLessThanOrEqual(100)
    expect(proxy.count(GATEWAY)).toBe(10_000)
  })

  test('that waits longer than the timeout gets 503', async () => {
    proxy.behaviour = 'hang'
    const guard = newGuard({ timeoutMs: 200 })
    const flood = await Promise.all(
      Array.from({ length: 300 }, () => outcome(guard, madeUpToken(jeton.projectId))),
    )
    expect(new Set(flood)).toEqual(new Set(['503 unavailable']))
  })

  test('against the real gateway lets none of 1,000 unknown tokens in', async () => {
    const guard = newGuard({ timeoutMs: 60_000 })
    const flood = Array.from({ length: 1_000 }, () => outcome(guard, madeUpToken(jeton.projectId)))
    expect(new Set(await Promise.all(flood))).toEqual(new Set(['401 inactive']))
  })
})
