import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { issueConcurrently, postAll, tokensOf } from '../concurrent-requests.ts'
import { eachEngine } from '../engines.ts'
import { madeUpToken } from '../made-up-token.ts'
import { type MultiProcess, type ServiceProcess, startProcesses } from '../multi-process.ts'
import { type Answer, type Pair, send, startService } from '../service.ts'
import { TestClock } from '../test-clock.ts'

const INACTIVE = '{"active":false}'
const FIELDS = ['access_token', 'active', 'client_id', 'expires_at', 'expires_in', 'scope', 'token_type']

const bearer = (accessToken: string) => ({ authorization: `Bearer ${accessToken}` })
const basic = ({ appId, appToken }: Pair) => ({
  authorization: `Basic ${Buffer.from(`${appId}:${appToken}`).toString('base64')}`,
})

/** Everything in a response by which a caller could tell two cases apart. */
function seen({ status, headers, text }: Answer) {
  const { date: _, 'x-request-id': __, ...rest } = Object.fromEntries(headers)
  return { status, text: text.replace(/v-[0-9a-f]{18}/, 'v-…'), headers: rest }
}

eachEngine((engine) => {
  let multiProcess: MultiProcess
  let service: ServiceProcess
  let names = 0

  beforeAll(async () => {
    multiProcess = await startProcesses(engine, 1, { JETON_TRUSTED_PROXIES: '127.0.0.1' })
    service = multiProcess.processes[0]!
  })
  afterAll(() => multiProcess.close())

  async function club(fields?: Record<string, unknown>) {
    const project = await service.project(`Club ${names++}`)
    return { project, key: await service.key(project.id, fields), asker: await service.key(project.id) }
  }
  const token = async (key: Pair, scope = 'vouchers'): Promise<string> =>
    (await service.issue(key, scope)).body.access_token
  const ask = (fields: Record<string, string>, pair?: Pair, headers?: Record<string, string>) =>
    service.form('/v1/oauth/introspect', fields, pair, headers)
  const askAs = (accessToken: string, asked: string, headers: Record<string, string> = {}) =>
    ask({ token: asked }, undefined, { ...bearer(accessToken), ...headers })

  /** Tokens that were looked for in the store, as the service counts them. */
  async function lookedFor(): Promise<number> {
    const { text } = await send(`${service.url}/metrics`)
    return Number(/^jeton_token_cache_misses_total (\d+)$/m.exec(text)![1])
  }

  describe('an active token', () => {
    test('introspection of an active token returns its six fields and active to any key of its project', async () => {
      const { key, asker } = await club()
      const issued = await service.issue(key, 'rewards vouchers')
      const { status, body } = await service.introspect(asker, issued.body.access_token)
      expect([status, Object.keys(body).sort()]).toEqual([200, FIELDS])
      expect(body).toEqual({ ...issued.body, active: true })
    })

    test('introspection takes the key pair from headers, Basic and form, and the token by both names, at both paths', async () => {
      const { key, asker } = await club()
      const accessToken = await token(key)
      const own = { client_id: asker.appId, client_secret: asker.appToken }
      const answers = await Promise.all([
        ask({ token: accessToken }, asker),
        ask({ access_token: accessToken }, asker),
        ask({ access_token: accessToken, token: accessToken }, asker),
        ask({ token: accessToken }, undefined, basic(asker)),
        ask({ token: accessToken, ...own }),
        ask({ token: accessToken, ...own }, asker, basic(asker)),
        ask({ token: accessToken, token_type_hint: 'refresh_token', unknown: 'field' }, asker),
        service.form('/oauth/introspect', { token: accessToken }, asker),
        service.form('/oauth/introspect', { token: accessToken }, undefined, basic(asker)),
      ])
      expect(answers[0]!.body.active).toBe(true)
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    })

    test('expires_in is rounded up, and a token is inactive at expires_at to the millisecond', async () => {
      const { key, asker } = await club()
      await multiProcess.advance(1_000 - (multiProcess.now() % 1_000) + 250)
      const accessToken = await token(key)
      const left = async () => (await service.introspect(asker, accessToken)).body.expires_in
      expect(await left()).toBe(900)
      await multiProcess.advance(749)
      expect(await left()).toBe(900)
      await multiProcess.advance(1)
      expect(await left()).toBe(899)
      await multiProcess.advance(898_999)
      expect(await left()).toBe(1)
      await multiProcess.advance(1)
      expect((await service.introspect(asker, accessToken)).text).toBe(INACTIVE)
    })

    test('introspection shows the granted scope after the key was narrowed', async () => {
      const { key, asker } = await club({ permissions: ['rewards', 'vouchers'] })
      const accessToken = await token(key, 'vouchers rewards')
      await service.manage('PATCH', key.path, { permissions: ['rewards'] })
      expect((await service.introspect(asker, accessToken)).body).toMatchObject({
        active: true,
        scope: 'vouchers rewards',
      })
    })
  })

  describe('an inactive token', () => {
    test('introspection returns the same bytes for an unknown, malformed, expired, revoked, dead or foreign token', async () => {
      const { key, asker, project } = await club()
      const { key: blocked } = { key: await service.key(project.id) }
      const deleted = await service.key(project.id)
      const foreign = await club()
      const expired = await token(key)
      await multiProcess.advance(900_000)
      const tokens = {
        unknown: madeUpToken(project.id),
        'of an unknown project': madeUpToken('proj_0000000000000000'),
        malformed: 'nothing like a token',
        empty: '',
        'with one letter changed': `${expired.slice(0, -1)}${expired.endsWith('0') ? '1' : '0'}`,
        'an app token': asker.appToken,
        expired,
        revoked: await token(key),
        'of a blocked key': await token(blocked),
        'of a deleted key': await token(deleted),
        foreign: await token(foreign.key),
      }
      await service.form('/v1/oauth/revoke', { token: tokens.revoked }, key)
      await service.manage('POST', `${blocked.path}/block`)
      await service.manage('DELETE', deleted.path)
      expect((await service.introspect(foreign.asker, tokens.foreign)).body.active).toBe(true)
      const expected = { status: 200, text: INACTIVE }
      const first = seen(await service.introspect(asker, tokens.unknown))
      for (const [what, value] of Object.entries(tokens)) {
        const answer = await service.introspect(asker, value)
        expect(seen(answer), what).toEqual(first)
        expect(seen(answer), what).toMatchObject(expected)
      }
    })

    test('introspection reads the store for a well-formed token and never for a malformed one', async () => {
      const { asker, project } = await club()
      await service.introspect(asker, madeUpToken(project.id))
      const before = await lookedFor()
      const real = madeUpToken(project.id)
      for (const text of [
        '',
        'x',
        real.slice(1),
        `${real}x`,
        real.toLowerCase(),
        real.replace('jtn_', 'jta_'),
        'é'.repeat(200),
      ])
        expect((await service.introspect(asker, text)).text).toBe(INACTIVE)
      expect(await lookedFor()).toBe(before)
      await service.introspect(asker, real)
      expect(await lookedFor()).toBe(before + 1)
    })

    test('introspection never reads tokens of another project', async () => {
      const { asker } = await club()
      const foreign = await club()
      const accessToken = await token(foreign.key)
      const before = await lookedFor()
      expect((await service.introspect(asker, accessToken)).text).toBe(INACTIVE)
      expect(await lookedFor()).toBe(before)
    })
  })

  describe('a bearer token that asks', () => {
    test('a bearer token can introspect itself with any scope, and others of its project with "api"', async () => {
      const { key } = await club({ permissions: ['api', 'client_api'] })
      const [self, all] = [await token(key, 'client_redeem'), await token(key, 'vouchers api')]
      expect((await askAs(self, self)).body).toMatchObject({
        active: true,
        access_token: self,
        scope: 'client_redeem',
      })
      expect((await askAs(all, self)).body).toMatchObject({ active: true, access_token: self })
      expect((await askAs(all, all)).body.active).toBe(true)
      const root = await service.form('/oauth/introspect', { token: self }, undefined, bearer(all))
      expect(root.body.active).toBe(true)
    })

    test('a bearer token without "api" gets 403 for other tokens, whether they exist or not', async () => {
      const { key, project } = await club({ permissions: ['api', 'client_api'] })
      const [self, other] = [await token(key, 'vouchers client_api'), await token(key)]
      const about = [other, madeUpToken(project.id), 'malformed']
      const answers = await Promise.all(about.map((asked) => askAs(self, asked)))
      expect(answers[0]!.body).toMatchObject({
        code: 403,
        key: 'insufficient_scope',
        error: 'insufficient_scope',
      })
      expect(answers[0]!.headers.get('www-authenticate')).toBe(
        'Bearer error="insufficient_scope", scope="api"',
      )
      expect(new Set(answers.map((answer) => JSON.stringify(seen(answer)))).size).toBe(1)
    })

    test('a bearer token with "api" is limited to the current permissions of its key', async () => {
      const { key, asker } = await club()
      const [all, other] = [await token(key, 'api'), await token(asker)]
      expect((await askAs(all, other)).body.active).toBe(true)
      await service.manage('PATCH', key.path, { permissions: ['vouchers'] })
      expect((await askAs(all, other)).status).toBe(403)
      expect((await askAs(all, all)).body.active).toBe(true)
    })

    test('a bearer token sees tokens of other projects as inactive, with or without "api"', async () => {
      const [own, foreign] = [await club(), await club()]
      expect((await askAs(await token(own.key, 'api'), await token(foreign.key))).text).toBe(INACTIVE)
    })

    test('a bearer token is limited to the allowlist of its key', async () => {
      const { key } = await club({ ip_whitelist: ['10.0.0.0/8'] })
      const inside = { 'x-forwarded-for': '10.1.2.3' }
      const { body } = await service.issue(key, 'vouchers', inside)
      expect((await askAs(body.access_token, body.access_token, inside)).body.active).toBe(true)
      const outside = await askAs(body.access_token, body.access_token, { 'x-forwarded-for': '192.0.2.1' })
      expect([outside.status, outside.body.key]).toEqual([403, 'ip_not_allowed'])
    })

    test('a bearer token that is unknown, malformed, expired, revoked or dead gets the same 401', async () => {
      const { key, project } = await club()
      const blocked = await service.key(project.id)
      const expired = await token(key)
      await multiProcess.advance(900_000)
      const [revoked, dead] = [await token(key), await token(blocked)]
      await service.form('/v1/oauth/revoke', { token: revoked }, key)
      await service.manage('POST', `${blocked.path}/block`)
      const unknown = madeUpToken(project.id)
      const answers = await Promise.all(
        [unknown, 'malformed', expired, revoked, dead].map((one) => askAs(one, one)),
      )
      expect(answers[0]!.body).toMatchObject({ code: 401, key: 'unauthorized', error: 'invalid_token' })
      expect(answers[0]!.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
      expect(new Set(answers.map((answer) => JSON.stringify(seen(answer)))).size).toBe(1)
    })
  })

  describe('ip_address', () => {
    test.each([
      ['10.1.2.3', true],
      ['::ffff:10.1.2.3', true],
      ['2001:db8::5', true],
      ['2001:0DB8:0:0:0:0:0:5', true],
      ['192.0.2.1', false],
      ['2001:db9::5', false],
      ['::1', false],
    ])('ip_address %s in the allowlist of the key: %s', async (address, inside) => {
      const { key, asker } = await club({ ip_whitelist: ['10.0.0.0/8', '2001:db8::/32'] })
      const { body } = await service.issue(key, 'vouchers', { 'x-forwarded-for': '10.0.0.1' })
      const answer = await service.introspect(asker, body.access_token, { ip_address: address })
      if (inside) expect(answer.body.active).toBe(true)
      else expect(answer.text).toBe(INACTIVE)
      // The same token, where no address is named, is simply active.
      expect((await service.introspect(asker, body.access_token)).body.active).toBe(true)
    })

    test('ip_address is ignored if the allowlist is empty', async () => {
      const { key, asker } = await club()
      expect(
        (await service.introspect(asker, await token(key), { ip_address: '192.0.2.1' })).body.active,
      ).toBe(true)
    })

    test.each(['', 'localhost', '10.0.0', '10.0.0.0/8', '10.0.0.1, 10.0.0.2', '1.2.3.4:80'])(
      'an invalid ip_address %j gets 400',
      async (address) => {
        const { key, asker } = await club()
        const answer = await service.introspect(asker, await token(key), { ip_address: address })
        expect(answer.body).toMatchObject({ code: 400, key: 'invalid_payload', error: 'invalid_request' })
      },
    )
  })

  test('the token cache is bounded, and a flood of invented tokens neither fills it nor evicts known ones', async () => {
    const small = await startService(
      { ...(await engine.settings()), JETON_CACHE_TOKENS: '1000' },
      { clock: new TestClock(Date.now()) },
    )
    const { tokenCache } = small.service
    const project = await small.project('Flooded')
    const key = await small.key(project.id)
    const known = tokensOf(await issueConcurrently([small], 300, key))
    const askAll = (tokens: readonly string[]) =>
      postAll(
        tokens.map((one) => ({ url: `${small.url}/v1/oauth/introspect`, pair: key, fields: { token: one } })),
      )
    const held = tokenCache.size
    const flood = await askAll(Array.from({ length: 5_000 }, () => madeUpToken(project.id)))
    expect(flood.every(({ status, body }) => status === 200 && body.active === false)).toBe(true)
    expect(tokenCache.size).toBe(held)
    const misses = tokenCache.misses
    expect((await askAll(known)).every(({ body }) => body.active)).toBe(true)
    expect(tokenCache.misses).toBe(misses)

    // Real tokens evict each other, and are still answered correctly.
    for (const name of ['Second', 'Third']) {
      const other = await small.key((await small.project(name)).id)
      expect(tokensOf(await issueConcurrently([small], 1_000, other))).toHaveLength(1_000)
    }
    expect(tokenCache.size).toBe(1_000)
    expect((await askAll(known)).every(({ body }) => body.active)).toBe(true)
    expect(tokenCache.size).toBe(1_000)
    await small.stop()
  })
})
