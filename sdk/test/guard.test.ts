import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { madeUpToken } from '../../server/test/made-up-token.ts'
import type { Guard, GuardOptions } from '../src/guard/index.ts'
import type { KeyPair, Scope } from '../src/index.ts'
import type { TestJeton } from '../src/testing/index.ts'
import { core, guarding, testing } from './installed.ts'
import { startProxy, type TestProxy } from './proxy.ts'

const ADDRESS = '203.0.113.7'
const GATEWAY = '/gateway/authorize'
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
  proxy.behaviour = 'forward'
  proxy.requests.length = 0
})

const newGuard = (options: Partial<GuardOptions> = {}): Guard =>
  guarding.createGuard({ baseUrl: proxy.url, projectId: jeton.projectId, now: jeton.now, ...options })

async function issue(key: KeyPair, scope: readonly Scope[] = ['rewards']): Promise<string> {
  const source = core.createTokenSource({ baseUrl: jeton.baseUrl, key, scope })
  return (await source.get()).value
}

const ask = (guard: Guard, token: string, address = ADDRESS, scope: Scope = 'rewards') =>
  guard.check({ authorization: `Bearer ${token}`, scope, address })

/** Status and reason, or `allowed`. */
async function outcome(guard: Guard, token: string, address?: string, scope?: Scope): Promise<string> {
  const verdict = await ask(guard, token, address, scope)
  return verdict.allowed ? 'allowed' : `${verdict.status} ${verdict.reason}`
}

const keys = () => jeton.management.project(jeton.projectId).keys

test('a call with a valid token is allowed, and its caller is known', async () => {
  const key = await jeton.newKey({ permissions: ['api'] })
  const verdict = await ask(newGuard(), await issue(key, ['rewards', 'loyalties']))
  const { client_id: clientId } = await keys().get(key.id)
  expect(verdict).toEqual({
    allowed: true,
    caller: { projectId: jeton.projectId, keyId: key.id, clientId, scope: ['rewards', 'loyalties'] },
  })
  expect(proxy.requests[0]!.headers['x-forwarded-for']).toBe(ADDRESS)
})

describe('a call is refused', () => {
  test('without a token, with the challenge of RFC 6750 and no request', async () => {
    for (const authorization of [undefined, null, '', 'Bearer', 'Basic eDp5', 'Token x', 'Bearerjtn_x']) {
      const verdict = await newGuard().check({ authorization, scope: 'rewards', address: ADDRESS })
      expect(verdict).toMatchObject({
        status: 401,
        reason: 'missing',
        headers: { 'www-authenticate': 'Bearer' },
      })
    }
    expect(proxy.requests).toEqual([])
  })

  test('with a malformed token, by its checksum and without a request', async () => {
    const token = await issue(await jeton.newKey())
    const wrong = token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A')
    for (const one of [wrong, token.slice(1), `${token} `, `${token},x`, 'jtn_', 'x', token.repeat(2)])
      expect(await outcome(newGuard(), one), one).toBe('401 malformed')
    expect(proxy.requests).toEqual([])
  })

  test('with a token that is unknown, revoked, expired, or of a blocked or deleted key', async () => {
    const guard = newGuard({ maxAgeMs: 0 })
    const [revoked, blocked, deleted, expiring] = await Promise.all(
      Array.from({ length: 4 }, () => jeton.newKey()),
    )
    const tokens = await Promise.all([revoked!, blocked!, deleted!, expiring!].map((key) => issue(key)))
    for (const token of tokens) expect(await outcome(guard, token)).toBe('allowed')
    await keys().revokeTokens(revoked!.id)
    await keys().block(blocked!.id, { reason: 'leaked' })
    await keys().delete(deleted!.id)
    await jeton.advance(900_000)
    for (const token of [...tokens, madeUpToken(jeton.projectId)])
      expect(await outcome(guard, token)).toBe('401 inactive')
  })

  test('if the scope is not granted, or the key has lost the permission that its token shows', async () => {
    const guard = newGuard({ maxAgeMs: 0 })
    const key = await jeton.newKey({ permissions: ['rewards', 'vouchers'] })
    const token = await issue(key, ['rewards'])
    expect(await outcome(guard, token, ADDRESS, 'vouchers')).toBe('403 insufficient_scope')
    expect(await outcome(guard, token, ADDRESS, 'client_vouchers')).toBe('403 insufficient_scope')
    expect(await outcome(guard, token)).toBe('allowed')
    await keys().update(key.id, { permissions: ['vouchers'] })
    const verdict = await ask(guard, token)
    expect(verdict).toMatchObject({
      status: 403,
      headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="rewards"' },
    })
  })

  test('from an address that is not in the allowlist of its key', async () => {
    const key = await jeton.newKey({ ip_whitelist: [ADDRESS, '127.0.0.1', '2001:db8::/32'] })
    const token = await issue(key)
    const guard = newGuard()
    for (const address of [ADDRESS, `::ffff:${ADDRESS}`, '2001:DB8:0:0::1', '2001:db8::7%eth0'])
      expect(await outcome(guard, token, address), address).toBe('allowed')
    expect(await outcome(guard, token, '203.0.113.8')).toBe('403 ip_not_allowed')
    expect(await outcome(guard, token, '2001:db9::1')).toBe('403 ip_not_allowed')
  })

  test('with a token of another project, by what the token says and by what Jeton says', async () => {
    const { id } = await jeton.management.projects.create({ name: `Other ${performance.now()}` })
    const made = await jeton.management.project(id).keys.create({ name: 'k' })
    const token = await issue({ appId: made.app_id, appToken: made.app_token.reveal() })
    expect(await outcome(newGuard(), token)).toBe('401 inactive')
    expect(proxy.requests).toEqual([])
    expect(await outcome(newGuard({ projectId: [jeton.projectId, id] }), token)).toBe('allowed')
    const own = await issue(await jeton.newKey())
    proxy.behaviour = allowing({ 'x-jeton-project-id': id })
    expect(await outcome(newGuard(), own)).toBe('401 inactive')
  })

  test('if Jeton does not trust this machine, with the remedy for the operator', async () => {
    const strict = await testing.startJeton({ env: { JETON_TRUSTED_PROXIES: '' } })
    onTestFinished(() => strict.stop())
    const guard = guarding.createGuard({ baseUrl: strict.baseUrl, projectId: strict.projectId })
    const source = core.createTokenSource({
      baseUrl: strict.baseUrl,
      key: await strict.newKey(),
      scope: ['rewards'],
    })
    const { value } = await source.get()
    const verdict = await ask(guard, value)
    expect(verdict).toMatchObject({ status: 503, reason: 'not_trusted' })
    if (!verdict.allowed) expect(verdict.message).toContain('add this machine to JETON_TRUSTED_PROXIES')
    // The address of this machine itself needs no trust.
    expect(await outcome(guard, value, '127.0.0.1')).toBe('allowed')
  })

  test('if the server does not know the address of its caller', async () => {
    const token = await issue(await jeton.newKey())
    for (const address of [
      undefined,
      '',
      'unknown',
      'localhost',
      `${ADDRESS}, 10.0.0.1`,
      `${ADDRESS}:80`,
      '1.2.3',
      '::g',
    ])
      expect(
        await newGuard().check({ authorization: `Bearer ${token}`, scope: 'rewards', address }),
      ).toMatchObject({ status: 503, reason: 'address_unknown' })
    expect(proxy.requests).toEqual([])
  })
})

/** Answers as the gateway does, with some headers changed or left out. */
const allowing =
  (changed: Record<string, string | undefined> = {}): TestProxy['behaviour'] =>
  ({ headers }, response) => {
    const own = {
      'x-jeton-project-id': jeton.projectId,
      'x-jeton-client-id': 'cl_1',
      'x-jeton-key-id': 'key_1',
      'x-jeton-scope': 'rewards',
      'x-jeton-address': String(headers['x-forwarded-for']),
      'x-jeton-expires-in': '900',
      ...changed,
    }
    const sent = Object.entries(own).filter(([, value]) => value !== undefined)
    response.writeHead(200, Object.fromEntries(sent) as Record<string, string>).end()
  }

test('all refusals of a token have the same bytes, so that nobody learns which tokens exist', async () => {
  const key = await jeton.newKey()
  const token = await issue(key)
  await keys().block(key.id, { reason: 'x' })
  const verdicts = [
    await ask(newGuard(), token),
    await ask(newGuard(), madeUpToken(jeton.projectId)),
    await ask(newGuard(), 'x'),
  ]
  const bytes = verdicts.map((one) => {
    if (one.allowed) throw new Error('allowed')
    const { 'x-request-id': _, ...headers } = one.headers
    return JSON.stringify([one.status, headers, { ...JSON.parse(one.body), request_id: undefined }])
  })
  expect(new Set(bytes).size).toBe(1)
})

test('a positive answer is used again for maxAgeMs, for the same token, scope and address only', async () => {
  const guard = newGuard({ maxAgeMs: 2_000 })
  const token = await issue(await jeton.newKey(), ['rewards', 'vouchers'])
  for (let i = 0; i < 20; i++) expect(await outcome(guard, token)).toBe('allowed')
  expect(proxy.count(GATEWAY)).toBe(1)
  await outcome(guard, token, '203.0.113.8')
  await outcome(guard, token, ADDRESS, 'vouchers')
  expect(proxy.count(GATEWAY)).toBe(3)
  await jeton.advance(2_000)
  await outcome(guard, token)
  expect(proxy.count(GATEWAY)).toBe(4)
})

test('a thousand concurrent calls of one token share one request', async () => {
  const token = await issue(await jeton.newKey())
  const guard = newGuard()
  const outcomes = await Promise.all(Array.from({ length: 1_000 }, () => outcome(guard, token)))
  expect(new Set(outcomes)).toEqual(new Set(['allowed']))
  expect(proxy.count(GATEWAY)).toBe(1)
})

test('a refusal is not remembered: a widened key works with the next call', async () => {
  const guard = newGuard()
  const key = await jeton.newKey({ permissions: ['api'], ip_whitelist: ['127.0.0.1'] })
  const token = await issue(key)
  expect(await outcome(guard, token)).toBe('403 ip_not_allowed')
  await keys().update(key.id, { ip_whitelist: [] })
  expect(await outcome(guard, token)).toBe('allowed')
})

test('a blocked key is refused within maxAgeMs and two seconds, also if another process has blocked it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'jeton-two-'))
  const [one, other] = [
    await testing.startJeton({ env: { JETON_DATA_DIR: folder } }),
    await testing.startJeton({ env: { JETON_DATA_DIR: folder } }),
  ]
  onTestFinished(async () => {
    await Promise.all([one.stop(), other.stop()])
    rmSync(folder, { recursive: true, force: true })
  })
  const key = await one.newKey()
  const guard = guarding.createGuard({ baseUrl: other.baseUrl, projectId: one.projectId })
  const source = core.createTokenSource({ baseUrl: one.baseUrl, key, scope: ['rewards'] })
  const { value } = await source.get()
  expect(await outcome(guard, value)).toBe('allowed')
  await one.management.project(one.projectId).keys.block(key.id, { reason: 'leaked' })
  const blockedAt = performance.now()
  await expect.poll(() => outcome(guard, value), { interval: 20 }).toBe('401 inactive')
  expect(performance.now() - blockedAt).toBeLessThan(2_000 + 2_000)
})

test('settings that would break the promise of one minute, or let other projects in, are refused at the start', () => {
  for (const maxAgeMs of [-1, 25_001, Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => newGuard({ maxAgeMs })).toThrow(RangeError)
  expect(() => newGuard({ maxAgeMs: 25_000 })).not.toThrow()
  for (const projectId of ['', [], [''], undefined as never])
    expect(() => newGuard({ projectId })).toThrow(TypeError)
})

test('an answer that lacks a header, or is about another scope or address, lets nobody in', async () => {
  const token = await issue(await jeton.newKey())
  proxy.behaviour = allowing()
  expect(await outcome(newGuard(), token)).toBe('allowed')
  for (const [name, value] of [
    ['x-jeton-project-id', undefined],
    ['x-jeton-client-id', undefined],
    ['x-jeton-key-id', undefined],
    ['x-jeton-scope', undefined],
    ['x-jeton-scope', 'vouchers'],
    ['x-jeton-scope', 'client_api'],
    ['x-jeton-address', undefined],
    ['x-jeton-expires-in', undefined],
    ['x-jeton-expires-in', '-1'],
    ['x-jeton-expires-in', '1e3'],
    ['x-jeton-expires-in', '999999'],
  ] as const) {
    proxy.behaviour = allowing({ [name]: value })
    expect(await outcome(newGuard(), token), `${name} ${value}`).toBe('503 unavailable')
  }
  proxy.behaviour = allowing({ 'x-jeton-address': 'unknown' })
  expect(await outcome(newGuard(), token)).toBe('503 not_trusted')
})
