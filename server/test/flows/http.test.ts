import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { addManagementRoutes, addPublicRoutes, type RouteDeps } from '../../src/app/routes.ts'
import { ERRORS } from '../../src/contract/error-keys.ts'
import { createHttp, type Http } from '../../src/platform/http/index.ts'
import { createMetrics } from '../../src/platform/metrics.ts'
import { eachEngine } from '../engines.ts'
import { OPERATOR, send, silentLog, startService, type TestService } from '../service.ts'
import { TestClock } from '../test-clock.ts'

const operator = { 'x-management-id': OPERATOR.id, 'x-management-token': OPERATOR.token }

/** The HTTP side alone: what routes would need is not there, and nothing is listened to. */
const bareHttp = (): Http =>
  createHttp({
    clock: new TestClock(),
    log: silentLog(),
    metrics: createMetrics(),
    trustedProxies: [],
    managementAllow: [],
    requestLogLevel: 'debug',
    guards: { operator: async () => undefined, scope: async () => undefined },
    onRefusal: () => undefined,
    publicUrl: () => 'http://jeton.example',
  })

function allRoutes() {
  const http = bareHttp()
  const open = { metricsAccess: 'public', referenceAccess: 'public' } as const
  const deps = { ...open, metrics: createMetrics() } as Partial<RouteDeps> as RouteDeps
  addPublicRoutes(http.app, deps)
  addManagementRoutes(http.app, deps)
  return http.routes.flatMap(({ method, url, config, schema }) =>
    [method].flat().map((one) => ({
      method: one,
      url,
      config: config!,
      hidden: (schema as { hide?: boolean })?.hide === true,
    })),
  )
}

describe('every route', () => {
  test('every route has an access rule, and every route under /management but signing in is for operators', () => {
    const routes = allRoutes()
    expect(routes.length).toBeGreaterThan(35)
    for (const { method, url, config } of routes) {
      expect(['public', 'operator', 'scope', 'handler'], `${method} ${url}`).toContain(config.access)
      if (url.startsWith('/management/'))
        expect([config.access, config.management], `${method} ${url}`).toEqual([
          `${method} ${url}` === 'POST /management/v1/sessions' ? 'handler' : 'operator',
          true,
        ])
    }
    const open = routes.filter(({ config }) => config.access === 'public').map(({ url }) => url)
    expect(open.sort()).toEqual([
      '/',
      '/.well-known/oauth-authorization-server',
      '/docs',
      '/docs/',
      '/docs/:page',
      '/docs/:section/:page',
      '/docs/api',
      '/docs/api/',
      '/docs/diagrams/:name',
      '/docs/errors',
      '/docs/errors/',
      '/docs/errors/:key',
      '/docs/images/:name',
      '/docs/reference.js',
      '/docs/search.js',
      '/docs/search.json',
      '/docs/style.css',
      '/events',
      '/events/:file',
      '/favicon.ico',
      '/health/live',
      '/health/ready',
      '/metrics',
      '/openapi.json',
    ])
  })

  test('a route without a rule cannot be registered', () => {
    const { app } = bareHttp()
    expect(() => app.get('/secret', async () => 'everything')).toThrow('GET /secret has no access rule')
    expect(() => app.get('/secret', { config: { management: true } }, async () => 'everything')).toThrow(
      'no access rule',
    )
  })

  test('an API route cannot be registered as public or without a known scope', () => {
    const { app } = bareHttp()
    expect(() => app.get('/v1/vouchers', { config: { access: 'public' } }, async () => 'everything')).toThrow(
      'by scope',
    )
    expect(() => app.get('/vouchers', { config: { access: 'scope' } }, async () => 'everything')).toThrow(
      'requires a scope',
    )
  })

  test('the OpenAPI document has every route except pages, and no other', () => {
    const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))
    const described = Object.entries<object>(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const routes = allRoutes().filter(({ hidden }) => !hidden)
    // The gateway takes every method there is; the document shows one.
    const shown = routes.filter(({ method, url }) => !url.startsWith('/gateway/') || method === 'GET')
    const registered = shown.map(({ method, url }) => `${method} ${url.replace(/:(\w+)/g, '{$1}')}`)
    expect(described.sort()).toEqual(registered.sort())
    expect(
      allRoutes().flatMap(({ hidden, url }) => (hidden && !url.startsWith('/gateway') ? url : [])),
    ).toEqual([
      '/docs/errors',
      '/docs/errors/',
      '/docs/errors/:key',
      '/',
      '/favicon.ico',
      '/openapi.json',
      '/docs/api',
      '/docs/api/',
      '/docs/reference.js',
      '/docs',
      '/docs/',
      '/docs/style.css',
      '/docs/search.js',
      '/docs/search.json',
      '/docs/diagrams/:name',
      '/docs/images/:name',
      '/docs/:page',
      '/docs/:section/:page',
    ])
  })
})

describe('the server', () => {
  test('the server gives clients 10 s for headers and 30 s for a request, and keeps idle connections longer than proxies do', () => {
    const { server, initialConfig } = bareHttp().app
    expect(server.headersTimeout).toBe(10_000)
    expect(server.requestTimeout).toBe(30_000)
    expect(server.keepAliveTimeout).toBe(72_000)
    expect(initialConfig.bodyLimit).toBe(1024 * 1024)
  })
})

/** Addresses of other hosts: whatever a browser could be led to. */
const foreign = (text: string, own: string) =>
  [...text.matchAll(/(?:https?:)?\/\/[\w.-]+(?::\d+)?/g)]
    .map(([found]) => found)
    .filter((found) => !own.startsWith(found))

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Strict about the text format of Prometheus: what it does not know makes the test fail. */
function parseMetrics(text: string): Sample[] {
  expect(text.endsWith('\n')).toBe(true)
  const samples: Sample[] = []
  const types = new Map<string, string>()
  for (const line of text.trimEnd().split('\n')) {
    const comment = /^# (?:HELP (\w+) \S.*|TYPE (\w+) (counter|gauge|histogram))$/.exec(line)
    if (comment?.[2]) types.set(comment[2], comment[3]!)
    if (comment || line === '') continue
    const [, name, , labelText = '', value] =
      /^([a-z_]\w*)(\{(.*)\})? (\S+)$/i.exec(line) ?? expect.unreachable(line)
    const labels = [...labelText!.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"(?:,|$)/g)].map(([, label, content]) => [
      label,
      content,
    ])
    expect(types.has(name!.replace(/_(bucket|sum|count)$/, '')) || types.has(name!), line).toBe(true)
    expect(Number.isFinite(Number(value)), line).toBe(true)
    samples.push({ name: name!, labels: Object.fromEntries(labels), value: Number(value) })
  }
  return samples
}

eachEngine((engine) => {
  const running: TestService[] = []
  const start = async (
    env: Record<string, string> = {},
    clock = new TestClock(Date.now()),
  ): Promise<TestService> => {
    const service = await startService({ ...(await engine.settings()), ...env }, { clock })
    running.push(service)
    return service
  }
  // Before the stores are dropped, which happens after each test, too.
  afterEach(async () => void (await Promise.all(running.splice(0).map((service) => service.stop()))))

  test('every management route refuses an unknown caller before it reads anything else of the request', async () => {
    const service = await start()
    const guarded = allRoutes().filter(({ config }) => config.access === 'operator')
    for (const { method, url } of guarded) {
      const path = `${url.replace(/:\w+/g, '%00')}?limit=x`
      const init = method === 'GET' ? {} : { body: '{', headers: { 'content-type': 'nonsense' } }
      const answer = await send(service.url + path, { method, ...init })
      expect([answer.status, answer.body.key], `${method} ${url}`).toEqual([401, 'unauthorized'])
      expect(answer.headers.get('cache-control')).toBe('no-store')
    }
  })

  describe('the reference', () => {
    test('the reference describes the current API and loads from this server only', async () => {
      const service = await start()
      const document = await send(`${service.url}/openapi.json`)
      const { servers, ...rest } = document.body
      expect(servers).toEqual([{ url: service.url }])
      expect(rest).toEqual(JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')))
      // Samples of target addresses lead nowhere (RFC 2606).
      const samples = new Set(['https://hooks.example.com'])
      expect(foreign(document.text, service.url).filter((found) => !samples.has(found))).toEqual([])
      const page = await send(`${service.url}/docs`)
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      expect(foreign(page.text, service.url)).toEqual([])
      const policy = page.headers.get('content-security-policy')
      expect(policy).toContain("default-src 'none'")
      expect(policy).not.toMatch(/https?:|\*/)
      for (const [, path] of page.text.matchAll(/(?:src|href|data-url)="([^"]+)"/g))
        expect((await send(service.url + path)).status, path).toBe(200)
    })

    test('the script of the reference comes from this server', async () => {
      const service = await start()
      const script = await send(`${service.url}/docs/reference.js`)
      expect([script.status, script.headers.get('content-type')]).toEqual([
        200,
        'application/javascript; charset=utf-8',
      ])
      expect(script.text.length).toBeGreaterThan(500_000)
    })

    test('every error key has a page at its doc_url, and there is no other page', async () => {
      const service = await start()
      for (const key of Object.keys(ERRORS)) {
        const page = await send(`${service.url}/docs/errors/${key}`)
        expect([page.status, page.headers.get('content-type')], key).toEqual([
          200,
          'text/html; charset=utf-8',
        ])
        expect(page.text).toContain(`<code>${key}</code>`)
        expect(foreign(page.text, service.url), key).toEqual([])
      }
      const { body } = await send(`${service.url}/nowhere`)
      expect((await send(body.doc_url)).text).toContain('not_found')
      for (const key of ['toString', '__proto__', '%3Cscript%3E']) {
        const none = await send(`${service.url}/docs/errors/${key}`)
        expect([none.status, none.headers.get('content-type')], key).toEqual([
          404,
          'application/json; charset=utf-8',
        ])
      }
    })
  })

  describe('a management listener of its own', () => {
    test('only the management listener has management, metrics and reference, and doc_url leads to existing pages on both', async () => {
      const service = await start({ JETON_MANAGEMENT_PORT: '0' })
      expect(service.managementUrl).not.toBe(service.url)
      for (const path of ['/management/v1/projects', '/metrics', '/docs', '/openapi.json']) {
        expect((await send(service.managementUrl + path, { headers: operator })).status, path).toBe(200)
        expect((await send(service.url + path, { headers: operator })).status, path).toBe(404)
      }
      for (const path of ['/health/live', '/health/ready', '/.well-known/oauth-authorization-server'])
        expect((await send(service.url + path)).status, path).toBe(200)
      expect((await send(`${service.managementUrl}/v1/oauth/token`, { method: 'POST' })).status).toBe(404)
      const { body } = await send(`${service.managementUrl}/management/v1/projects`)
      expect((await send(body.doc_url)).status).toBe(200)
    })

    test('the management listener counts the responses of the public listener', async () => {
      const service = await start({ JETON_MANAGEMENT_PORT: '0' })
      await send(`${service.url}/health/live`)
      const samples = parseMetrics((await send(`${service.managementUrl}/metrics`)).text)
      const count = samples.find(
        ({ name, labels }) => name.endsWith('_count') && labels.route === '/health/live',
      )
      expect(count?.value).toBe(1)
    })
  })

  describe('JETON_MANAGEMENT_ALLOW', () => {
    const MANAGED = ['/management/v1/projects', '/metrics', '/docs', '/openapi.json', '/docs/reference.js']
    const from = (service: TestService, path: string, forwarded?: string) =>
      send(service.url + path, {
        headers: { ...operator, ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }) },
      })

    test('JETON_MANAGEMENT_ALLOW admits only listed addresses to management, and leaves the rest of the service open', async () => {
      const [open, shut] = [
        await start({ JETON_MANAGEMENT_ALLOW: '127.0.0.0/8' }),
        await start({ JETON_MANAGEMENT_ALLOW: '10.1.0.0/16,::1' }),
      ]
      for (const path of MANAGED.slice(0, 4)) {
        expect((await from(open, path)).status, path).toBe(200)
        const refused = await from(shut, path)
        expect([refused.status, refused.body.key], path).toEqual([403, 'ip_not_allowed'])
        expect(refused.body.message).toContain('127.0.0.1')
      }
      for (const path of ['/health/live', '/health/ready', '/docs/errors/not_found'])
        expect((await from(shut, path)).status, path).toBe(200)
      expect((await send(`${shut.url}/v1/oauth/token`, { method: 'POST' })).status).toBe(401)
    })

    test('JETON_MANAGEMENT_ALLOW uses the caller address of a trusted proxy, and of nobody else', async () => {
      const trusting = await start({
        JETON_MANAGEMENT_ALLOW: '10.1.0.0/16',
        JETON_TRUSTED_PROXIES: '127.0.0.1',
      })
      const wary = await start({ JETON_MANAGEMENT_ALLOW: '10.1.0.0/16' })
      const cases: [string | undefined, number][] = [
        ['10.1.2.3', 200],
        ['9.9.9.9, 10.1.2.3', 200],
        ['::ffff:10.1.2.3', 200],
        ['10.1.2.3, 9.9.9.9', 403],
        ['10.1.2.3, unknown', 403],
        ['10.1.2.3:80', 403],
        ['', 403],
        [undefined, 403],
      ]
      for (const [forwarded, status] of cases) {
        expect((await from(trusting, '/metrics', forwarded)).status, forwarded).toBe(status)
        expect((await from(wary, '/metrics', forwarded)).status, forwarded).toBe(403)
      }
    })
  })

  describe('metrics', () => {
    test('metrics are Prometheus text by route and status, without any value of a caller', async () => {
      const service = await start()
      const project = await service.project('Counted')
      const key = await service.key(project.id)
      await service.issue(key)
      await service.issue(key, 'nonsense')
      await service.manage('GET', `/projects/${project.id}`)
      for (const path of ['/a', '/b?c=d', '/management/v1/e']) await send(service.url + path)
      const answer = await send(`${service.url}/metrics`)
      expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
      const samples = parseMetrics(answer.text)
      const valuesOf = (wanted: string, labels: object = {}) =>
        samples
          .filter(
            ({ name, labels: own }) =>
              name === wanted && Object.entries(labels).every(([n, v]) => own[n] === v),
          )
          .map(({ value }) => value)
      const count = 'jeton_http_request_duration_seconds_count'
      expect(valuesOf(count, { method: 'POST', route: '/v1/oauth/token', status: '200' })).toEqual([1])
      expect(valuesOf(count, { method: 'POST', route: '/v1/oauth/token', status: '400' })).toEqual([1])
      expect(
        valuesOf(count, { method: 'GET', route: '/management/v1/projects/:project_id', status: '200' }),
      ).toEqual([1])
      expect(valuesOf(count, { route: 'unknown', status: '404' })).toEqual([3])
      expect(valuesOf('jeton_tokens_issued_total', { project: project.id })).toEqual([1])
      const refusedScope = { project: project.id, reason: 'invalid_scope' }
      expect(valuesOf('jeton_tokens_refused_total', refusedScope)).toEqual([1])
      expect(valuesOf('jeton_tokens_cached')).toEqual([1])
      for (const name of [
        'jeton_key_state_age_seconds',
        'process_start_time_seconds',
        'process_resident_memory_bytes',
      ])
        expect(valuesOf(name), name).toHaveLength(1)
      for (const text of [project.name, key.id, key.app_id, key.app_token, 'nonsense', '/b', OPERATOR.id])
        expect(answer.text).not.toContain(text)
    })

    test('the buckets of histograms add up', async () => {
      const service = await start()
      for (let i = 0; i < 3; i++) await send(`${service.url}/health/live`)
      const samples = parseMetrics((await send(`${service.url}/metrics`)).text).filter(
        ({ labels }) => labels.route === '/health/live',
      )
      const buckets = samples.filter(({ name }) => name.endsWith('_bucket')).map(({ value }) => value)
      expect(buckets).toEqual(buckets.toSorted((a, b) => a - b))
      expect(samples.find(({ labels }) => labels.le === '+Inf')?.value).toBe(3)
      expect(samples.find(({ name }) => name.endsWith('_count'))?.value).toBe(3)
    })
  })

  describe('health', () => {
    const health = async (service: TestService) => {
      const [live, ready] = await Promise.all([
        send(`${service.url}/health/live`),
        send(`${service.url}/health/ready`),
      ])
      return [live.status, ready.status]
    }

    test('health is live and ready without credentials while the store responds', async () => {
      const clock = new TestClock(Date.now())
      const service = await start({}, clock)
      expect(await health(service)).toEqual([200, 200])
      for (let second = 0; second < 40; second++) {
        await clock.advance(1_000)
        await service.service.changeFeed.pollChanges()
      }
      expect(await health(service)).toEqual([200, 200])
    })

    test('health stays ready for 30 s without the store, then reports it, and requests that need the store get 503', async () => {
      const clock = new TestClock(Date.now())
      const service = await start({}, clock)
      const key = await service.key((await service.project('Cut off')).id)
      const token = (await service.issue(key)).body.access_token
      await service.service.db.close()
      await clock.advance(29_000)
      expect(await health(service)).toEqual([200, 200])
      await clock.advance(1_000)
      expect(await health(service)).toEqual([200, 503])
      const ready = await send(`${service.url}/health/ready`)
      expect([ready.body.key, ready.headers.get('retry-after')]).toEqual(['temporarily_unavailable', '5'])
      const answers = [
        await service.introspect(key, token),
        await service.issue(key),
        await service.form('/v1/oauth/revoke', { token }, key),
        await service.manage('GET', '/projects'),
        await service.manage('POST', '/projects', { name: 'x' }),
      ]
      for (const { status, body, headers } of answers)
        expect([status, body.key, headers.get('retry-after')]).toEqual([503, 'temporarily_unavailable', '5'])
      expect((await send(`${service.url}/metrics`)).text).toMatch(/^jeton_key_state_age_seconds 30$/m)
    })

    test('a service is not ready once its shutdown begins, while it still responds', async () => {
      const clock = new TestClock(Date.now())
      const service = await start({}, clock)
      void service.service.stop()
      const ready = await send(`${service.url}/health/ready`)
      expect([ready.status, ready.headers.get('connection')]).toEqual([503, 'close'])
      const live = await send(`${service.url}/health/live`)
      expect([live.status, live.headers.get('connection')]).toEqual([200, 'close'])
      await clock.advance(300)
    })
  })
})
