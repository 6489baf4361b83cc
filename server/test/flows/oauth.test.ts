import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SCOPE_VALUES } from '../../src/contract/scopes.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { eachEngine, type TestStore } from '../engines.ts'
import { type Pair, send, startService, type TestService } from '../service.ts'
import { TestClock } from '../test-clock.ts'

const basic = ({ appId, appToken }: Pair) => ({
  authorization: `Basic ${Buffer.from(`${appId}:${appToken}`).toString('base64')}`,
})
const asForm = ({ appId, appToken }: Pair) => ({ client_id: appId, client_secret: appToken })

eachEngine((engine) => {
  let store: TestStore
  let service: TestService
  let projectId: string
  let key: Awaited<ReturnType<TestService['key']>>

  beforeAll(async () => {
    store = await engine.freshStore()
    const env = { ...store.env, JETON_TRUSTED_PROXIES: '127.0.0.1, 10.255.0.0/16' }
    service = await startService(env, { clock: new TestClock(Date.now()) })
    projectId = (await service.project('Club')).id
    key = await service.key(projectId)
  })
  afterAll(() => service.stop())

  const grant = (scope: string) => ({ grant_type: 'client_credentials', scope })

  describe('a key pair', () => {
    test('a key pair gets a token with exactly six fields, and introspection returns them with active', async () => {
      const issued = await service.issue(key, 'vouchers rewards vouchers')
      expect(issued.status).toBe(200)
      expect(Object.keys(issued.body).sort()).toEqual([
        'access_token',
        'client_id',
        'expires_at',
        'expires_in',
        'scope',
        'token_type',
      ])
      expect(issued.body).toMatchObject({
        client_id: key.client_id,
        expires_in: 900,
        scope: 'vouchers rewards',
        token_type: 'Bearer',
      })
      expect(issued.body.access_token).toMatch(/^jtn_[A-Za-z0-9_-]{60,}$/)
      expect(issued.body.access_token).not.toContain(key.appToken)
      const asked = await service.introspect(key, issued.body.access_token)
      expect(asked.body).toEqual({ ...issued.body, active: true, expires_in: expect.any(Number) })
    })

    test('a key pair is accepted in headers, in Basic and in the form', async () => {
      const answers = await Promise.all([
        service.issue(key),
        service.form('/v1/oauth/token', grant('vouchers'), undefined, basic(key)),
        service.form('/v1/oauth/token', { ...grant('vouchers'), ...asForm(key) }),
        service.form('/v1/oauth/token', { ...grant('vouchers'), ...asForm(key) }, key, basic(key)),
      ])
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    })

    test('a token request may name all 42 scopes, and unknown form fields are ignored', async () => {
      const all = await service.key(projectId, { permissions: ['api', 'client_api'] })
      const scope = [...SCOPE_VALUES].reverse().join(' ')
      const answer = await service.form(
        '/v1/oauth/token',
        { ...grant(scope), audience: 'x', resource: 'y' },
        all,
      )
      expect([answer.status, answer.body.scope]).toEqual([200, scope])
    })

    test('a token is in the store before its response is sent', async () => {
      const { body } = await service.issue(key)
      const other = await startService(store.env, { clock: new TestClock(Date.now()) })
      expect((await other.introspect(key, body.access_token)).body.active).toBe(true)
      await other.stop()
    })

    test('the secret of a key pair never appears in the operator view of its tokens', async () => {
      const { body } = await service.issue(key)
      const { text, body: list } = await service.manage(
        'GET',
        `/projects/${projectId}/tokens?limit=100&key=${key.id}`,
      )
      expect(list.total).toBeGreaterThan(0)
      for (const secret of [body.access_token, key.appToken]) expect(text).not.toContain(secret.slice(10, 40))
    })
  })

  test('every OAuth response has no-store, including errors', async () => {
    const { body } = await service.issue(key)
    const answers = await Promise.all([
      service.issue(key),
      service.introspect(key, body.access_token),
      service.introspect(key, 'x'),
      service.form('/v1/oauth/revoke', { token: 'x' }, key),
      service.form('/v1/oauth/token/revoke', { token: 'x' }, key),
      service.issue({ appId: 'x', appToken: 'y' }),
      service.issue(key, 'nothing'),
      send(`${service.url}/v1/oauth/token`),
      send(`${service.url}/v1/oauth/token`, {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json' },
      }),
      send(`${service.url}/oauth/introspect`, {
        method: 'POST',
        body: 'x'.repeat(20_000),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 404, 401, 400, 405, 415, 413])
    for (const { headers } of answers) {
      expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache'])
      expect(headers.get('x-request-id')).toMatch(/^v-[0-9a-f]{18}$/)
    }
  })

  describe('the whitelist at issuing', () => {
    const from = (forwarded: string) => ({ 'x-forwarded-for': forwarded })

    test.each([
      ['an address inside', '10.1.2.3', 200],
      ['a mapped address inside', '::ffff:10.1.2.3', 200],
      ['an address outside', '192.0.2.1', 403],
      ['an address outside that claims to be inside', '10.1.2.3, 192.0.2.1', 403],
      ['an address inside, whatever was claimed before it', 'nonsense, 192.0.2.1, 10.1.2.3', 200],
      ['an address inside behind a second trusted proxy', '10.1.2.3, 10.255.0.9', 200],
      ['something that is no address', 'unknown', 403],
      ['nothing', '', 403],
    ])('the allowlist at issue checks %s', async (_, forwarded, status) => {
      const listed = await service.key(projectId, { ip_whitelist: ['10.0.0.0/16', '10.1.0.0/16'] })
      const answer = await service.issue(listed, 'vouchers', from(forwarded))
      expect(answer.status).toBe(status)
      if (status === 403)
        expect(answer.body).toMatchObject({ key: 'ip_not_allowed', error: 'unauthorized_client' })
    })

    test('the allowlist at issue uses the socket address without a trusted proxy, and no header', async () => {
      const direct = await startService(store.env, { clock: new TestClock(Date.now()) })
      const [own, far] = [
        await direct.key(projectId, { ip_whitelist: ['127.0.0.1'] }),
        await direct.key(projectId, { ip_whitelist: ['10.0.0.1'] }),
      ]
      expect((await direct.issue(own, 'vouchers', from('10.0.0.1'))).status).toBe(200)
      expect((await direct.issue(far, 'vouchers', from('10.0.0.1'))).status).toBe(403)
      await direct.stop()
    })
  })

  describe('the metadata', () => {
    const metadata = (headers?: Record<string, string>) =>
      send(`${service.url}/.well-known/oauth-authorization-server`, { headers })

    test('the metadata names only existing endpoints and authentication methods', async () => {
      const { body } = await metadata()
      expect(body).toMatchObject({
        issuer: service.url,
        response_types_supported: [],
        grant_types_supported: ['client_credentials'],
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      })
      expect(body.scopes_supported).toEqual(SCOPE_VALUES)
      const ways = {
        client_secret_basic: { headers: basic(key), fields: {} },
        client_secret_post: { headers: {}, fields: asForm(key) },
      }
      for (const way of body.token_endpoint_auth_methods_supported as (keyof typeof ways)[]) {
        const { headers, fields } = ways[way]
        const post = (url: string, more: Record<string, string>) =>
          send(url, { method: 'POST', headers, body: new URLSearchParams({ ...fields, ...more }) })
        const issued = await post(body.token_endpoint, grant('rewards'))
        expect(issued.status).toBe(200)
        const token = issued.body.access_token
        expect((await post(body.introspection_endpoint, { token })).body.active).toBe(true)
        expect((await post(body.revocation_endpoint, { token })).status).toBe(200)
        expect((await post(body.introspection_endpoint, { token })).text).toBe('{"active":false}')
      }
      expect((await send(body.service_documentation)).status).toBeLessThan(400)
    })

    test('the metadata takes nothing from Host or forwarded headers', async () => {
      const spoofed = {
        host: 'evil.example',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'https',
        forwarded: 'host=evil.example',
      }
      expect((await metadata(spoofed)).text).toBe((await metadata()).text)
    })

    test('the metadata has JETON_PUBLIC_URL as its issuer if it is set', async () => {
      const env = { ...store.env, JETON_PUBLIC_URL: 'https://tokens.example' }
      const other = await startService(env, { clock: new TestClock(Date.now()) })
      const { body } = await send(`${other.url}/.well-known/oauth-authorization-server`)
      expect(body).toMatchObject({
        issuer: 'https://tokens.example',
        token_endpoint: 'https://tokens.example/v1/oauth/token',
      })
      await other.stop()
    })
  })

  test('issue, introspection and revocation work with the real clock', async () => {
    const real = await startService(store.env, { clock: systemClock })
    const before = Math.floor(Date.now() / 1000)
    const { status, body } = await real.issue(key)
    expect([status, body.expires_in]).toEqual([200, 900])
    expect(body.expires_at).toBeGreaterThanOrEqual(before + 899)
    expect(body.expires_at).toBeLessThanOrEqual(before + 960)
    expect((await real.introspect(key, body.access_token)).body.active).toBe(true)
    expect((await real.manage('GET', `/projects/${projectId}`)).body.active_tokens).toBeGreaterThan(0)
    expect((await real.manage('GET', `/projects/${projectId}/tokens`)).status).toBe(200)
    expect((await real.form('/v1/oauth/token/revoke', { token: body.access_token }, key)).status).toBe(204)
    expect((await real.introspect(key, body.access_token)).text).toBe('{"active":false}')
    await real.stop()
  })
})
