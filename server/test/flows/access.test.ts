import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeApi } from '../../scripts/describe-api.ts'
import { addManagementRoutes, addPublicRoutes, type RouteDeps } from '../../src/app/routes.ts'
import { scopeOfPath } from '../../src/contract/scopes.ts'
import { createScopeGuard } from '../../src/features/access/index.ts'
import { LastUsedTracker } from '../../src/features/tokens/index.ts'
import { UsageCounter } from '../../src/features/usage/index.ts'
import { systemClock } from '../../src/platform/clock.ts'
import {
  type App,
  createHttp,
  type Http,
  type HttpDeps,
  LoginThrottle,
} from '../../src/platform/http/index.ts'
import { createMetrics } from '../../src/platform/metrics.ts'
import { eachEngine } from '../engines.ts'
import { type Answer, type Pair, send, silentLog } from '../service.ts'
import { startTimedService, type TimedService } from '../timed-service.ts'

type Key = Awaited<ReturnType<TimedService['key']>>

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const pairOf = ({ appId, appToken }: Pair) => ({ 'x-app-id': appId, 'x-app-token': appToken })

const httpWith = (guard: HttpDeps['guards']['scope'], more: Partial<HttpDeps> = {}): Http =>
  createHttp({
    clock: systemClock,
    log: silentLog(),
    metrics: createMetrics(),
    trustedProxies: [],
    managementAllow: [],
    requestLogLevel: 'debug',
    guards: { operator: () => undefined, scope: guard },
    onRefusal: () => undefined,
    publicUrl: () => 'https://jeton.example',
    ...more,
  })

/** Routes as business features will register them. */
function addProbes(app: App): void {
  const config = { access: 'scope' } as const
  const whoAmI = async ({ actor, projectId, body }: { actor: object; projectId: string; body: unknown }) => ({
    actor,
    projectId,
    body,
  })
  app.get('/v1/vouchers/:id', { config }, whoAmI)
  app.post('/v1/vouchers', { config }, whoAmI)
  app.post('/client/v1/redeem', { config }, whoAmI)
  app.get('/v1/unheard-of', { config }, whoAmI)
  app.get('/v1/loyalties/:id/rewards', { config: { ...config, scope: 'rewards' } }, whoAmI)
}

eachEngine((engine) => {
  let service: TimedService
  let guard: ReturnType<typeof createScopeGuard>
  let http: Http
  let url: string
  let project: { id: string }
  let key: Key
  const refusals: string[] = []
  beforeAll(async () => {
    service = await startTimedService(engine)
    const { tokenCache } = service.service
    guard = createScopeGuard({
      tokenCache,
      attempts: new LoginThrottle(service.clock),
      lastUsed: new LastUsedTracker(service.clock),
      usage: new UsageCounter(service.clock, createMetrics()),
    })
    http = httpWith(guard, {
      trustedProxies: ['127.0.0.1'],
      onRefusal: (_, { refusal }) => void refusals.push(refusal?.step ?? ''),
    })
    addProbes(http.app)
    http.finish()
    url = await http.app.listen({ host: '127.0.0.1', port: 0 })
    project = await service.project('Guarded')
    key = await service.key(project.id, { permissions: ['api', 'client_api'] })
  })
  afterAll(async () => {
    await http.app.close()
    await service.stop()
  })

  const tokenOf = async (scope: string, of: Pair = key): Promise<string> =>
    (await service.issue(of, scope)).body.access_token
  const call = (method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    send(url + path, { method, headers })
  const statuses = (path: string, method: string, credentials: readonly Record<string, string>[]) =>
    Promise.all(credentials.map(async (one) => (await call(method, path, one)).status))

  describe('a route behind a scope', () => {
    test('a route is open to the scope of its first path segment and to api or client_api, by token and by key pair', async () => {
      const scopes = ['vouchers', 'client_redeem', 'rewards', 'loyalties', 'api', 'client_api']
      const tokens = await Promise.all(scopes.map(async (scope) => bearer(await tokenOf(scope))))
      const pairs = await Promise.all(
        scopes.map(async (scope) =>
          pairOf(await service.key(project.id, { name: scope, permissions: [scope] })),
        ),
      )
      for (const credentials of [tokens, pairs]) {
        expect(await statuses('/v1/vouchers/x', 'GET', credentials)).toEqual([200, 403, 403, 403, 200, 403])
        expect(await statuses('/client/v1/redeem', 'POST', credentials)).toEqual([
          403, 200, 403, 403, 403, 200,
        ])
        expect(await statuses('/v1/unheard-of', 'GET', credentials)).toEqual([403, 403, 403, 403, 200, 403])
      }
    })

    test('a route that declares a scope is open to that scope and not to the one of its path', async () => {
      const path = '/v1/loyalties/x/rewards'
      const credentials = [
        bearer(await tokenOf('loyalties')),
        bearer(await tokenOf('rewards')),
        bearer(await tokenOf('api')),
      ]
      expect(await statuses(path, 'GET', credentials)).toEqual([403, 200, 200])
    })

    test('a route knows its caller and the project', async () => {
      for (const credential of [bearer(await tokenOf('vouchers')), pairOf(key)]) {
        const { body } = await call('GET', '/v1/vouchers/x', {
          ...credential,
          'x-forwarded-for': '203.0.113.7',
        })
        expect(body.projectId).toBe(project.id)
        expect(body.actor).toMatchObject({ type: 'api_key', id: key.id, address: '203.0.113.7' })
        expect(body.actor.requestId).toMatch(/^v-/)
      }
    })

    test('access from the cache is decided synchronously, by token and by key pair', async () => {
      for (const headers of [bearer(await tokenOf('vouchers')), pairOf(key)]) {
        expect((await call('GET', '/v1/vouchers/x', headers)).status).toBe(200)
        const request = { headers, method: 'GET', url: '/v1/vouchers/x', caller: { ip: '127.0.0.1' } }
        expect(guard(request as never, 'vouchers')).toBeUndefined()
      }
    })

    test('a route responds as RFC 6750 says to a missing token, a dead token and a missing scope', async () => {
      const [none, dead, narrow] = [
        await call('GET', '/v1/vouchers/x'),
        await call('GET', '/v1/vouchers/x', bearer('jtn_x')),
        await call('GET', '/v1/vouchers/x', bearer(await tokenOf('orders'))),
      ]
      expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
      expect([dead.status, dead.headers.get('www-authenticate')]).toEqual([
        401,
        'Bearer error="invalid_token"',
      ])
      expect([narrow.status, narrow.headers.get('www-authenticate')]).toEqual([
        403,
        'Bearer error="insufficient_scope", scope="vouchers"',
      ])
      expect(narrow.body).toMatchObject({
        key: 'insufficient_scope',
        message: 'GET /v1/vouchers/x requires "vouchers" or "api".',
        details: 'This token has: orders.',
      })
      expect(refusals.slice(-3)).toEqual(['bearer_missing', 'bearer_malformed', 'scope_insufficient'])
    })

    test('a bearer token together with a key pair gets 400, since the identity is ambiguous', async () => {
      const answer = await call('GET', '/v1/vouchers/x', { ...bearer(await tokenOf('api')), ...pairOf(key) })
      expect([answer.status, answer.body.key]).toEqual([400, 'conflicting_credentials'])
    })

    test('a token counts only in the header, never in the query or the body', async () => {
      const token = await tokenOf('api')
      expect((await call('GET', `/v1/vouchers/x?access_token=${token}`)).status).toBe(401)
      const body = JSON.stringify({ access_token: token })
      const posted = await send(`${url}/v1/vouchers`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      expect(posted.status).toBe(401)
    })

    test('a route checks the credential before it reads the body', async () => {
      const headers = { 'content-type': 'application/json' }
      const broken = { method: 'POST', body: '{broken' }
      expect((await send(`${url}/v1/vouchers`, { ...broken, headers })).status).toBe(401)
      const held = { ...headers, ...bearer(await tokenOf('vouchers')) }
      expect((await send(`${url}/v1/vouchers`, { ...broken, headers: held })).status).toBe(400)
    })

    test('a route is guarded for every method, and only allowed callers learn that a method does not exist', async () => {
      const credentials = [{}, bearer(await tokenOf('orders')), bearer(await tokenOf('vouchers'))]
      for (const method of ['DELETE', 'PATCH', 'HEAD', 'OPTIONS'])
        expect(await statuses('/v1/vouchers/x', method, credentials), method).toEqual([401, 403, 405])
      const { headers } = await call('PUT', '/v1/vouchers/x', credentials[2])
      expect(headers.get('allow')).toBe('GET')
    })

    test('a route applies the allowlist of the key to tokens and key pairs', async () => {
      const narrow = await service.key(project.id, { name: 'narrow', ip_whitelist: ['203.0.113.0/24'] })
      // Issuing asks for the address as well, and this service trusts no proxy: the whitelist comes afterwards.
      const open = await service.key(project.id, { name: 'open' })
      const token = await tokenOf('vouchers', open)
      await service.manage('PATCH', open.path, { ip_whitelist: ['203.0.113.0/24'] })
      for (const credential of [bearer(token), pairOf(narrow)]) {
        const from = async (address: string) =>
          (await call('GET', '/v1/vouchers/x', { ...credential, 'x-forwarded-for': address })).status
        expect([await from('203.0.113.7'), await from('198.51.100.1'), await from('garbage')]).toEqual([
          200, 403, 403,
        ])
      }
    })

    test('a route applies the current permissions of the key, not those at the time of issue', async () => {
      const shrinking = await service.key(project.id, { name: 'shrinking', permissions: ['vouchers'] })
      const token = bearer(await tokenOf('vouchers', shrinking))
      expect((await call('GET', '/v1/vouchers/x', token)).status).toBe(200)
      await service.manage('PATCH', shrinking.path, { permissions: ['orders'] })
      const { status, body } = await call('GET', '/v1/vouchers/x', token)
      expect([status, body.details]).toEqual([403, 'Its API key has: orders.'])
      await service.manage('PATCH', shrinking.path, { permissions: ['vouchers'] })
      expect((await call('GET', '/v1/vouchers/x', token)).status).toBe(200)
    })

    test('another spelling of a path does not bypass the guard of its route', async () => {
      const token = bearer(await tokenOf('orders'))
      for (const path of [
        '/%76%31/vouchers/x',
        '/v1/%76ouchers/x',
        '/v1/vouchers/%78',
        '/v1/vouchers/x?scope=orders',
      ])
        expect((await call('GET', path, token)).status, path).toBe(403)
      for (const path of [
        '/V1/vouchers/x',
        '/v1/Vouchers/x',
        '//v1/vouchers/x',
        '/v1//vouchers/x',
        '/v1/vouchers/x/',
      ])
        expect((await call('GET', path, token)).status, path).toBe(404)
    })
  })
})

/** Everything that the service answers, the methods that it refuses with 405 included. */
function allRoutes() {
  const http = httpWith(() => undefined)
  const open = { metricsAccess: 'public', referenceAccess: 'public' } as const
  const deps = { ...open, metrics: createMetrics() } as Partial<RouteDeps> as RouteDeps
  addPublicRoutes(http.app, deps)
  addManagementRoutes(http.app, deps)
  http.finish()
  return http.routes.map(({ method, url, config }) => ({ method, url, config: config! }))
}

/** Signing in itself, and the link for it, which a session cannot create. */
const WITHOUT_SESSION: Readonly<Record<string, object[]>> = {
  'post /management/v1/sessions': [],
  'post /management/v1/login-codes': [{ managementId: [], managementToken: [] }],
}

describe('every route of the service', () => {
  test('every route has an access rule, and every route of /v1 and /client/v1 except OAuth requires a scope', () => {
    const routes = allRoutes()
    expect(routes.length).toBeGreaterThan(40)
    for (const { method, url, config } of routes) {
      const name = `${method} ${url}`
      expect(['public', 'operator', 'scope', 'handler'], name).toContain(config.access)
      const ofTheApi = scopeOfPath(url) !== null && !url.startsWith('/v1/oauth/')
      expect(config.access === 'scope', name).toBe(ofTheApi)
      if (ofTheApi) expect(config.scope, name).toBeTypeOf('string')
    }
  })

  test('the only unguarded routes of /v1 are the OAuth endpoints', () => {
    const open = allRoutes().filter(
      ({ url, config }) => scopeOfPath(url) !== null && config.access !== 'scope',
    )
    expect(new Set(open.map(({ url }) => url))).toEqual(
      new Set(['/v1/oauth/token', '/v1/oauth/introspect', '/v1/oauth/token/revoke', '/v1/oauth/revoke']),
    )
  })

  test('a route without an access rule cannot be registered', () => {
    const { app } = httpWith(() => undefined)
    expect(() => app.get('/v1/vouchers', async () => '')).toThrow('has no access rule')
    expect(() => app.get('/v1/vouchers', { config: { access: 'public' } }, async () => '')).toThrow(
      'must be by scope',
    )
    app.register(
      async (inner) => {
        expect(() => inner.get('/vouchers', { config: { access: 'handler' } }, async () => '')).toThrow(
          'must be by scope',
        )
      },
      { prefix: '/v1' },
    )
    return app.ready()
  })
})

describe('the OpenAPI document', () => {
  interface Operation {
    readonly security?: Record<string, string[]>[]
    readonly 'x-scope'?: string
  }
  type Document = {
    readonly paths: Record<string, Record<string, Operation>>
    readonly components: { readonly securitySchemes: Record<string, object> }
  }

  /** Where no route of the service is or will be. */
  function addApart(app: App): void {
    const config = { access: 'scope' } as const
    app.get('/v1/vouchers/probes/:id', { config }, async () => '')
    app.post('/client/v1/redeem/probes', { config }, async () => '')
    app.get('/v1/loyalties/probes/:id', { config: { ...config, scope: 'rewards' } }, async () => '')
  }

  test('the OpenAPI document names the credential and the scope of each operation', async () => {
    const { paths, components } = (await describeApi(addApart)) as Document
    const expected = (scope: string) => ({
      security: [{ bearer: [scope] }, { appId: [], appToken: [] }],
      'x-scope': scope,
    })
    expect(paths['/v1/vouchers/probes/{id}']!.get).toMatchObject(expected('vouchers'))
    expect(paths['/client/v1/redeem/probes']!.post).toMatchObject(expected('client_redeem'))
    expect(paths['/v1/loyalties/probes/{id}']!.get).toMatchObject(expected('rewards'))
    expect(paths['/gateway/authorize']!.get!.security).toEqual([{ bearer: [] }, { appId: [], appToken: [] }])
    const schemes = Object.keys(components.securitySchemes)
    for (const [path, methods] of Object.entries(paths))
      for (const [method, { security = [], 'x-scope': scope }] of Object.entries(methods)) {
        const name = `${method} ${path}`
        const ofTheApi = scopeOfPath(path) !== null && !path.startsWith('/v1/oauth/')
        expect(scope !== undefined, name).toBe(ofTheApi)
        if (path.startsWith('/management/'))
          expect(security, name).toEqual(
            WITHOUT_SESSION[name] ?? [{ managementId: [], managementToken: [] }, { session: [] }],
          )
        expect(schemes).toEqual(expect.arrayContaining(security.flatMap(Object.keys)))
      }
  })
})
