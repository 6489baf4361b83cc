import { rmSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { newFolder } from '../command-line.ts'
import { freePort } from '../free-port.ts'
import {
  isInstalled,
  type ProxyName,
  type Received,
  type RunningProxy,
  startProxy,
  startUpstream,
  type Upstream,
} from '../proxy.ts'
import { type RawAnswer, sendBytes } from '../raw-http.ts'
import { startService, type TestService } from '../service.ts'

/** Where callers come from: addresses of this machine, neither of them the proxy's. */
const [CALLER, ELSEWHERE] = ['127.0.0.2', '127.0.0.3']
/** The proxies reach Jeton from here; it is trusted. */
const PROXY = '127.0.0.1'

type Header = readonly [name: string, value: string]

interface CallOptions {
  readonly method?: string
  readonly headers?: readonly Header[]
  readonly body?: string
  readonly from?: string
  readonly version?: '1.0' | '1.1'
}

/** One call as its bytes; nothing is escaped or joined on the way. */
function call(url: string, target: string, options: CallOptions = {}): Promise<RawAnswer> {
  const { method = 'GET', headers = [], body = '', from = CALLER, version = '1.1' } = options
  const framed = headers.some(([name]) => name === 'Transfer-Encoding')
  const all: Header[] = [['Host', 'api.example.com'], ['Connection', 'close'], ...headers]
  if (body !== '' && !framed) all.push(['Content-Length', String(Buffer.byteLength(body))])
  const head = all.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return sendBytes(
    url,
    Buffer.from(`${method} ${target} HTTP/${version}\r\n${head}\r\n${body}`, 'latin1'),
    from,
  )
}

const bearer = (token: string): Header => ['Authorization', `Bearer ${token}`]

const IDENTITY = ['x-jeton-project-id', 'x-jeton-client-id', 'x-jeton-key-id', 'x-jeton-scope']

/** Every header that any API could read as one of ours: many take `_` for `-`, and case never matters. */
function identities({ rawHeaders }: Received): Record<string, string[]> {
  const found: Record<string, string[]> = {}
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase().replace(/[^a-z0-9]/g, '-')
    if (IDENTITY.includes(name)) found[name] = [...(found[name] ?? []), rawHeaders[i + 1]!]
  }
  return found
}

const PREFLIGHT: readonly Header[] = [
  ['Origin', 'https://shop.example'],
  ['Access-Control-Request-Method', 'POST'],
  ['Access-Control-Request-Headers', 'authorization'],
]

const FORGED: readonly Header[] = [
  ['X-Jeton-Project-Id', 'proj_forged'],
  ['X-Jeton-Key-Id', 'key_forged'],
  ['x-jeton-scope', 'api'],
  ['X-JETON-SCOPE', 'client_api'],
  ['X_Jeton_Scope', 'api'],
  ['X-Jeton_Scope', 'api'],
  ['x_jeton-client_id', 'forged'],
  ['X.Jeton.Scope', 'api'],
]

/** None of these may reach the API with a token for vouchers; `/health` in another spelling may, as `/health`. */
const TRICKS = [
  '/v1/campaigns',
  '/v1/vouchers/../campaigns',
  '/v1/vouchers/..',
  '/v1/vouchers/%2e%2e/campaigns',
  '/v1/vouchers/%2E./campaigns',
  '/v1/vouchers/.%2e/campaigns',
  '/v1/vouchers/..%2fcampaigns',
  '/v1/vouchers/..%5ccampaigns',
  '/v1/vouchers/%252e%252e/campaigns',
  '/v1/vouchers/%252e%252e%252fcampaigns',
  '/v1/vouchers/%c0%ae%c0%ae/campaigns',
  '/v1/vouchers/..;/campaigns',
  '/v1/vouchers;a=b/x',
  '/v1/vouchers/x;a=b',
  '/v1/vouchers\\..\\campaigns',
  '/v1\\vouchers',
  '/v1/./vouchers',
  '/v1/vouchers/.',
  '/v1//vouchers',
  '//v1/vouchers',
  '/v1/vouchers//',
  '/v1/%2fvouchers',
  '/v1%2fvouchers',
  '/v1/vouchers%00',
  '/v1/vouchers%0d%0aX-Jeton-Scope:%20api',
  '/v1/vouchers%7f',
  '/v1/vouchers%',
  '/v1/vouchers%zz',
  '/v1/vouchers\x01',
  '/v1/vouchers\x7f',
  '/v1/vouchers\xe9',
  '/v1/vouchers x',
  '/v1/vouchers#/../campaigns',
  '/v1/vouchers#',
  '/%76%31/vouchers',
  '/v1/%63ampaigns',
  '/V1/vouchers',
  '/v1/Vouchers',
  '/v1/VOUCHERS',
  '/v1/vouchers%20',
  '/v1',
  '/v1/',
  '/v1/vouchersx',
  '/v2/vouchers',
  '/client/v1/vouchers',
  '/client/v1/redeem',
  '/client/../v1/campaigns',
  '/',
  '/anything',
  '/_jeton',
  '/_jeton?scope=vouchers',
  '/gateway/authorize',
  '/health/../v1/campaigns',
  '/health/..%2fv1/campaigns',
  '/health/%2e%2e/v1/campaigns',
  '/health/..;/v1/campaigns',
  '/health/',
  '/health;/../v1/campaigns',
  '/v1/../health',
  '/v1/campaigns/../../health',
  '/v1/campaigns/%2e%2e/%2e%2e/health',
  '//health',
  '/HEALTH',
  'http://api.example.com/v1/campaigns',
  'http://api.example.com/health/../v1/campaigns',
  'v1/vouchers',
  '*',
]

/** The same to Jeton and the API, however odd they look: they come out as they went in. */
const PLAIN = [
  '/v1/vouchers',
  '/v1/vouchers/',
  '/v1/vouchers/Summer-2026',
  '/v1/vouchers/UPPER/lower',
  '/v1/vouchers/a.b.c',
  '/v1/vouchers/caf%C3%A9%20%2B%3F%23',
  "/v1/vouchers/-_~!$&'()*+,=:@",
  '/v1/vouchers/x?limit=10&page=2',
  '/v1/vouchers?path=/../../%2e%2e/%2f;//\\&scope=campaigns',
  '/v1/vouchers?',
  `/v1/vouchers/${'x'.repeat(6_000)}`,
  `/v1/vouchers?${'x'.repeat(6_000)}`,
]

function behind(name: ProxyName): void {
  let service: TestService
  let jetonPort: number
  let api: Upstream
  let proxy: RunningProxy
  let token: string
  let project: { id: string }
  let key: Awaited<ReturnType<TestService['key']>>
  const env = { JETON_DATA_DIR: newFolder('proxies'), JETON_TRUSTED_PROXIES: PROXY }

  const start = () => startService({ ...env, JETON_PORT: String(jetonPort) }, { clock: systemClock })
  const ask = (target: string, options?: CallOptions) => call(proxy.url, target, options)
  const tokenOf = async (pair: { appId: string; appToken: string }, headers = {}) =>
    (await service.issue(pair, 'vouchers', headers)).body.access_token as string

  beforeAll(async () => {
    jetonPort = await freePort()
    service = await start()
    api = await startUpstream()
    proxy = await startProxy(name, { jeton: jetonPort, api: api.port })
    project = await service.project('Shop')
    key = await service.key(project.id)
    token = await tokenOf(key)
  })
  afterAll(async () => {
    await proxy.stop()
    await api.close()
    await service.stop()
    rmSync(env.JETON_DATA_DIR, { recursive: true })
  })
  beforeEach(() => void api.received.splice(0))

  /** The one call that reached the API. */
  function arrived(): Received {
    expect(api.received).toHaveLength(1)
    return api.received[0]!
  }

  const expected = (scope: string) => ({
    'x-jeton-project-id': [project.id],
    'x-jeton-client-id': [key.client_id],
    'x-jeton-key-id': [key.id],
    'x-jeton-scope': [scope],
  })

  describe('an allowed call', () => {
    test('an allowed call reaches the API with the identity of its caller and without its credential, by token and by key pair', async () => {
      const byToken = await ask('/v1/vouchers/x?a=b', { headers: [bearer(token)] })
      expect([byToken.status, byToken.body]).toEqual([200, { hello: 'world' }])
      expect([arrived().url, identities(arrived())]).toEqual(['/v1/vouchers/x?a=b', expected('vouchers')])
      expect(arrived().headers['x-forwarded-for']).toBe(CALLER)
      const tokensWay = api.received.pop()!

      await ask('/v1/campaigns', {
        headers: [
          ['X-App-Id', key.appId],
          ['X-App-Token', key.appToken],
        ],
      })
      expect(identities(arrived())).toEqual(expected('api'))
      for (const { rawHeaders } of [tokensWay, arrived()])
        expect(rawHeaders.join('\n')).not.toMatch(/jtn_|jta_|authorization|app-token|original-uri/i)
    })

    test('the body of an allowed call reaches the API complete, and never reaches Jeton', async () => {
      const body = 'voucher '.repeat(40_000)
      const headers = [bearer(token), ['Content-Type', 'text/plain']] as const
      expect((await ask('/v1/vouchers', { method: 'POST', headers, body })).status).toBe(200)
      expect([arrived().method, arrived().body.toString()]).toEqual(['POST', body])
      api.received.pop()
      const chunked = {
        headers: [...headers, ['Transfer-Encoding', 'chunked']] as Header[],
        body: '5\r\nhello\r\n0\r\n\r\n',
      }
      expect((await ask('/v1/vouchers', { method: 'PUT', ...chunked })).status).toBe(200)
      expect([arrived().method, arrived().body.toString()]).toEqual(['PUT', 'hello'])
    })

    test('an allowed call may use HTTP/1.0 and any method', async () => {
      expect((await ask('/v1/vouchers', { headers: [bearer(token)], version: '1.0' })).status).toBe(200)
      for (const method of ['DELETE', 'PATCH', 'HEAD', 'OPTIONS'])
        expect((await ask('/v1/vouchers', { method, headers: [bearer(token)] })).status).toBe(200)
      expect(api.received.map((one) => one.method)).toEqual(['GET', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'])
      for (const one of api.received) expect(identities(one)).toEqual(expected('vouchers'))
    })

    test.each(PLAIN)('the path of an allowed call reaches the API unchanged: %.60s', async (target) => {
      const { status } = await ask(target, { headers: [bearer(token)] })
      expect([status, arrived().url]).toEqual([
        200,
        target === '/v1/vouchers?' ? expect.stringMatching(/^\/v1\/vouchers\??$/) : target,
      ])
    })
  })

  describe('a refused call never reaches the API', () => {
    async function refused(target: string, options: CallOptions): Promise<RawAnswer> {
      const answer = await ask(target, options)
      expect(api.received).toEqual([])
      expect(answer.headers['cache-control']).toBe('no-store')
      expect(answer.headers['content-type']).toContain('application/json')
      expect(answer.body.request_id).toMatch(/^v-[0-9a-f]{18}$/)
      return answer
    }

    test('a call without a token gets 401 and the authentication scheme', async () => {
      for (const version of ['1.0', '1.1'] as const) {
        const { status, headers, body } = await refused('/v1/vouchers', { version })
        expect([status, headers['www-authenticate'], body.key]).toEqual([401, 'Bearer', 'unauthorized'])
        expect(body.details).toContain('Authorization: Bearer <access_token>')
      }
    })

    test('a call with a malformed token or a wrong key pair gets 401', async () => {
      const wrong = await refused('/v1/vouchers', { headers: [bearer('jtn_nonsense')] })
      expect([wrong.status, wrong.headers['www-authenticate']]).toEqual([401, 'Bearer error="invalid_token"'])
      const pair = await refused('/v1/vouchers', {
        headers: [
          ['X-App-Id', key.appId],
          ['X-App-Token', 'jta_wrong'],
        ],
      })
      expect([pair.status, pair.body.key]).toEqual([401, 'unauthorized'])
    })

    test('a call outside the scope of its token gets 403 and the required scope', async () => {
      const { status, headers, body } = await refused('/v1/campaigns', { headers: [bearer(token)] })
      expect([status, body.key]).toEqual([403, 'insufficient_scope'])
      expect(headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="campaigns"')
      expect(body.message).toContain('/v1/campaigns requires "campaigns" or "api"')
    })

    test('a call with a token of a blocked key gets 401, also after the key is unblocked', async () => {
      const blocked = await service.key(project.id, { name: 'blocked' })
      const live = await tokenOf(blocked)
      expect((await ask('/v1/vouchers', { headers: [bearer(live)] })).status).toBe(200)
      api.received.pop()
      await service.manage('POST', `${blocked.path}/block`)
      const { status, headers } = await refused('/v1/vouchers', { headers: [bearer(live)] })
      expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer error="invalid_token"'])
    })

    test('a call from an address outside the allowlist gets 403, whatever its headers claim', async () => {
      const narrow = await service.key(project.id, { name: 'narrow', ip_whitelist: [CALLER] })
      const headers = [bearer(await tokenOf(narrow, { 'x-forwarded-for': CALLER }))]
      expect((await ask('/v1/vouchers', { headers })).status).toBe(200)
      api.received.pop()
      const lies: Header[] = ['X-Forwarded-For', 'X-Real-IP', 'Forwarded', 'X_Forwarded_For'].map((one) => [
        one,
        CALLER,
      ])
      for (const lie of [[], ...lies.map((one) => [one]), lies]) {
        const { status, body } = await refused('/v1/vouchers', {
          headers: [...headers, ...lie],
          from: ELSEWHERE,
        })
        expect([status, body.key]).toEqual([403, 'ip_not_allowed'])
        expect(body.message).toContain(ELSEWHERE)
      }
    })

    test('headers with another path or scope do not change the decision', async () => {
      const named = (path: string): Header[] => [
        bearer(token),
        ['X-Original-URI', path],
        ['X-Forwarded-Uri', path],
        ['x-original-uri', path],
        ['X-Original-Method', 'HEAD'],
        ['X-Forwarded-Method', 'HEAD'],
      ]
      for (const one of named('/v1/vouchers').slice(1)) {
        const { status } = await refused('/v1/campaigns?scope=vouchers', { headers: [bearer(token), one] })
        expect(status, one[0]).toBe(403)
      }
      expect((await refused('/v1/campaigns?scope=vouchers', { headers: named('/v1/vouchers') })).status).toBe(
        403,
      )
      expect((await ask('/v1/vouchers?scope=campaigns', { headers: named('/v1/campaigns') })).status).toBe(
        200,
      )
    })

    test.each(TRICKS)('the path %j does not bypass the check', async (target) => {
      const { status } = await ask(target, { headers: [bearer(token)] })
      if (api.received.length > 0) {
        expect(target.toLowerCase()).toContain('health')
        expect([arrived().url, identities(arrived())]).toEqual(['/health', {}])
      } else expect([400, 401, 403, 404]).toContain(status)
    })
  })

  describe('the identity headers', () => {
    const CONNECTION: Header = [
      'Connection',
      'X-Jeton-Scope, X-Jeton-Key-Id, x-jeton-project-id, X-Jeton-Client-Id, X-Forwarded-For',
    ]

    test('the identity headers cannot be forged on an allowed call', async () => {
      expect((await ask('/v1/vouchers', { headers: [bearer(token), ...FORGED] })).status).toBe(200)
      expect(identities(arrived())).toEqual(expected('vouchers'))
    })

    test('the identity headers are not removed by naming them in Connection', async () => {
      expect((await ask('/v1/vouchers', { headers: [CONNECTION, bearer(token), CONNECTION] })).status).toBe(
        200,
      )
      expect(identities(arrived())).toEqual(expected('vouchers'))
      expect(arrived().headers['x-forwarded-for']).toBe(CALLER)
    })

    test('no identity header of the caller passes on public paths and preflights', async () => {
      expect((await ask('/health?x', { headers: [...FORGED, CONNECTION] })).status).toBe(200)
      expect(
        (await ask('/v1/vouchers', { method: 'OPTIONS', headers: [...PREFLIGHT, ...FORGED] })).status,
      ).toBe(200)
      expect(api.received.map(identities)).toEqual([{}, {}])
    })

    test('every call is checked, and no connection is upgraded to an unchecked protocol', async () => {
      const upgrade: Header[] = [
        ['Connection', 'Upgrade, HTTP2-Settings'],
        ['Upgrade', 'h2c'],
        ['HTTP2-Settings', 'AAMAAABkAAQAAP__'],
      ]
      await ask('/v1/vouchers', { headers: [bearer(token), ...upgrade] })
      await ask('/health', { headers: upgrade })
      for (const { headers } of api.received)
        expect([headers.upgrade, headers.connection]).not.toContain('h2c')
      expect(api.received.every(({ headers }) => headers.upgrade === undefined)).toBe(true)
    })
  })

  test('a CORS preflight passes without a credential, and no other OPTIONS does', async () => {
    expect((await ask('/v1/vouchers?x', { method: 'OPTIONS', headers: PREFLIGHT })).status).toBe(200)
    const { method, url, headers } = arrived()
    expect([method, url]).toEqual(['OPTIONS', '/v1/vouchers?x'])
    expect(headers).toMatchObject({ origin: 'https://shop.example', 'access-control-request-method': 'POST' })
    api.received.pop()
    expect((await ask('/v1/vouchers', { method: 'OPTIONS' })).status).toBe(401)
    expect((await ask('/v1/vouchers', { method: 'POST', headers: PREFLIGHT })).status).toBe(401)
    expect(api.received).toEqual([])
  })

  test('a call to an API that is down gets 502, which is no refusal', async () => {
    const lonely = await startProxy(name, { jeton: jetonPort, api: await freePort() })
    const { status, text } = await call(lonely.url, '/v1/vouchers', { headers: [bearer(token)] })
    expect([status, text.includes('authorized')]).toEqual([502, false])
    await lonely.stop()
  })

  describe('where Jeton', () => {
    /** Something else in Jeton's place. */
    async function inPlaceOfJeton(
      answer: Parameters<typeof startUpstream>[0],
      use: (url: string, other: Upstream) => Promise<void>,
    ) {
      const other = await startUpstream(answer)
      const own = await startProxy(name, { jeton: other.port, api: api.port })
      try {
        await use(own.url, other)
      } finally {
        await own.stop()
        await other.close()
      }
    }

    test('no call reaches the API unless Jeton returns 200', async () => {
      let status = 0
      const answer: Parameters<typeof startUpstream>[0] = (_, response) => {
        if (status === 0) return void response.destroy()
        response.writeHead(status, { location: '/v1/vouchers', 'x-jeton-scope': 'api' }).end()
      }
      await inPlaceOfJeton(answer, async (url) => {
        for (status of [0, 302, 400, 401, 403, 404, 429, 500, 502, 503]) {
          const seen = await call(url, '/v1/vouchers', { headers: [bearer(token)] })
          expect(seen.status, String(status)).toBeGreaterThanOrEqual(status === 302 ? 302 : 400)
        }
        expect(api.received).toEqual([])
      })
    })

    test('identity headers that Jeton does not set stay empty, whatever the caller sends', async () => {
      await inPlaceOfJeton(
        (_, response) => response.end(),
        async (url) => {
          await call(url, '/v1/vouchers', { headers: FORGED })
          expect(JSON.stringify(identities(arrived()))).not.toMatch(/forged|api/)
        },
      )
    })

    test('the proxy asks Jeton over kept connections, with the unchanged path and without the body', async () => {
      await inPlaceOfJeton(
        (_, response) => response.end(),
        async (url, other) => {
          const headers: Header[] = [
            bearer(token),
            ['X-Forwarded-For', '203.0.113.7'],
            ['X-Original-URI', '/v1/other'],
          ]
          for (let i = 0; i < 20; i++)
            await call(url, '/v1/a%20B/c?scope=api', { method: 'POST', headers, body: 'x'.repeat(5_000) })
          expect(other.connections()).toBeLessThan(4)
          const { url: asked, headers: sent, body } = other.received.at(-1)!
          expect(asked.split('?')[0]).toBe('/gateway/authorize')
          expect([sent['x-original-uri'], sent['x-forwarded-uri']].filter(Boolean)).toEqual([
            '/v1/a%20B/c?scope=api',
          ])
          expect([sent['x-forwarded-for'], sent.authorization, body.length]).toEqual([
            CALLER,
            `Bearer ${token}`,
            0,
          ])
        },
      )
    })

    test('callers get 503 within seconds if Jeton does not respond', async () => {
      await inPlaceOfJeton(
        () => undefined,
        async (url) => {
          const { status, headers, body } = await call(url, '/v1/vouchers', { headers: [bearer(token)] })
          expect([status, headers['retry-after'], body.key]).toEqual([503, '5', 'temporarily_unavailable'])
          expect(api.received).toEqual([])
        },
      )
    })

    test('every call except public ones gets 503 while Jeton is down, and works again afterwards', async () => {
      await service.stop()
      for (const headers of [[bearer(token)], [], [bearer(token), ...FORGED]]) {
        const { status, headers: seen, body } = await ask('/v1/vouchers', { headers })
        expect([status, seen['retry-after'], body.key]).toEqual([503, '5', 'temporarily_unavailable'])
      }
      expect(api.received).toEqual([])
      expect((await ask('/health')).status).toBe(200)
      service = await start()
      expect((await ask('/v1/vouchers', { headers: [bearer(token)] })).status).toBe(200)
    })
  })
}

for (const [name, program] of [
  ['nginx', 'nginx'],
  ['Caddy', 'caddy'],
] as const) {
  const installed = isInstalled(program)
  const missing = `: skipped, since ${program} is not installed (apt-get install -y nginx-light caddy)`
  describe.skipIf(!installed)(`the shipped example for ${name}${installed ? '' : missing}`, () =>
    behind(name),
  )
}
