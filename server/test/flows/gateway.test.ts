import { METHODS } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SCOPE_VALUES, SCOPES, type Scope } from '../../src/contract/scopes.ts'
import { eachEngine } from '../engines.ts'
import { type MultiProcess, startProcesses } from '../multi-process.ts'
import { sendRaw } from '../raw-http.ts'
import { type Answer, type Client, type Pair, send } from '../service.ts'
import { startTimedService, type TimedService } from '../timed-service.ts'

type Sent = Record<string, string>
type Key = Awaited<ReturnType<Client['key']>>

const GATEWAY = '/gateway/authorize'
const bearer = (token: string): Sent => ({ authorization: `Bearer ${token}` })
const pairOf = ({ appId, appToken }: Pair): Sent => ({ 'x-app-id': appId, 'x-app-token': appToken })

/** As nginx asks. */
const ask = (url: string, path: string, headers: Sent): Promise<Answer> =>
  send(url + GATEWAY, { headers: { ...headers, 'x-original-uri': path } })

const statusOf = async (url: string, path: string, headers: Sent) => (await ask(url, path, headers)).status

const tokenOf = async (client: Client, key: Pair, scope: string, headers?: Sent): Promise<string> =>
  (await client.issue(key, scope, headers)).body.access_token

/** A path under the scope; under `api` and `client_api` one that no other scope names. */
function pathUnder(scope: Scope): string {
  const { side, segment } = SCOPES[scope]
  return `${side === 'client' ? '/client' : ''}/v1/${segment === '*' ? 'unheard-of' : segment}/x`
}

/** Whether the scope must open a path that requires `needed`, written without the code under test. */
const opens = (held: Scope, needed: Scope): boolean =>
  held === needed || held === (needed.startsWith('client_') ? 'client_api' : 'api')

const IDENTITY = ['x-jeton-project-id', 'x-jeton-client-id', 'x-jeton-key-id', 'x-jeton-scope']

eachEngine((engine) => {
  let service: TimedService
  let project: { id: string }
  let key: Key
  let token: string
  beforeAll(async () => {
    service = await startTimedService(engine)
    project = await service.project('Gateway')
    key = await service.key(project.id, { name: 'all', permissions: ['api', 'client_api'] })
    token = await tokenOf(service, key, 'vouchers')
  })
  afterAll(() => service.stop())

  describe('each of the 42 scopes', () => {
    /** Which scopes' paths the credential of each scope opens. */
    async function opened(credentials: ReadonlyMap<Scope, Sent>): Promise<Record<string, Scope[]>> {
      const found: Record<string, Scope[]> = {}
      for (const [held, headers] of credentials) {
        const asked = SCOPE_VALUES.map((needed) => statusOf(service.url, pathUnder(needed), headers))
        const statuses = await Promise.all(asked)
        expect(statuses.every((status) => status === 200 || status === 403)).toBe(true)
        found[held] = SCOPE_VALUES.filter((_, i) => statuses[i] === 200)
      }
      return found
    }

    const expected = Object.fromEntries(
      SCOPE_VALUES.map((held) => [held, SCOPE_VALUES.filter((needed) => opens(held, needed))]),
    )

    test('each of the 42 scopes of a token opens its own path, which only api or client_api open too', async () => {
      const credentials = new Map<Scope, Sent>()
      for (const scope of SCOPE_VALUES) credentials.set(scope, bearer(await tokenOf(service, key, scope)))
      expect(await opened(credentials)).toEqual(expected)
      expect(SCOPE_VALUES).toHaveLength(42)
    })

    test('each of the 42 permissions of a key opens its own path, which only api or client_api open too', async () => {
      const credentials = new Map<Scope, Sent>()
      for (const scope of SCOPE_VALUES)
        credentials.set(scope, pairOf(await service.key(project.id, { name: scope, permissions: [scope] })))
      expect(await opened(credentials)).toEqual(expected)
    })

    test('api never opens /client/v1 and client_api never opens /v1, whatever the path', async () => {
      const [server, client] = [await tokenOf(service, key, 'api'), await tokenOf(service, key, 'client_api')]
      for (const segment of [
        '',
        '/',
        '/vouchers',
        '/redeem',
        '/client_redeem',
        '/api',
        '/client_api',
        '/unheard-of',
      ]) {
        expect(await statusOf(service.url, `/v1${segment}`, bearer(server))).toBe(200)
        expect(await statusOf(service.url, `/client/v1${segment}`, bearer(server))).toBe(403)
        expect(await statusOf(service.url, `/client/v1${segment}`, bearer(client))).toBe(200)
        expect(await statusOf(service.url, `/v1${segment}`, bearer(client))).toBe(403)
      }
    })
  })

  describe('an allowed call', () => {
    test('an allowed call gets 200 without a body, with no-store and all four identity headers', async () => {
      const byToken = await ask(service.url, '/v1/vouchers', bearer(token))
      expect([byToken.status, byToken.text, byToken.headers.get('cache-control')]).toEqual([
        200,
        '',
        'no-store',
      ])
      expect(IDENTITY.map((name) => byToken.headers.get(name))).toEqual([
        project.id,
        key.client_id,
        key.id,
        'vouchers',
      ])
      const byPair = await ask(service.url, '/client/v1/redeem', pairOf(key))
      expect(IDENTITY.map((name) => byPair.headers.get(name))).toEqual([
        project.id,
        key.client_id,
        key.id,
        'api client_api',
      ])
      const basic = Buffer.from(`${key.appId}:${key.appToken}`).toString('base64')
      expect((await ask(service.url, '/v1/vouchers', { authorization: `Basic ${basic}` })).status).toBe(200)
    })

    test('an allowed call tells which address was checked and how many whole seconds its token has left', async () => {
      const { body } = await service.issue(key, 'vouchers')
      const answered = async (credential: Sent) => {
        const { status, headers } = await ask(service.url, '/v1/vouchers', credential)
        return [status, headers.get('x-jeton-address'), headers.get('x-jeton-expires-in')]
      }
      expect(await answered(bearer(body.access_token))).toEqual([200, '127.0.0.1', '900'])
      await service.jump(1)
      expect(await answered(bearer(body.access_token))).toEqual([200, '127.0.0.1', '899'])
      expect(await answered(pairOf(key))).toEqual([200, '127.0.0.1', null])
      await service.jump(898_999)
      expect(await answered(bearer(body.access_token))).toEqual([200, '127.0.0.1', '1'])
      await service.jump(1)
      expect(await answered(bearer(body.access_token))).toEqual([200, '127.0.0.1', '0'])
      await service.jump(999)
      expect(await answered(bearer(body.access_token))).toEqual([401, null, null])
      token = await tokenOf(service, key, 'vouchers')
    })

    test('the gateway accepts any method and ignores the body', async () => {
      const headers = { ...bearer(token), 'x-forwarded-uri': '/v1/vouchers' }
      for (const method of METHODS.filter((one) => one !== 'CONNECT')) {
        const { status } = await sendRaw(service.url, { method, path: GATEWAY, headers })
        expect(status, method).toBe(200)
      }
      const bodies: [string, string][] = [
        ['application/json', '{broken'],
        ['no media type', 'x'],
        ['application/x-www-form-urlencoded', 'a=%'],
        ['text/plain', 'x'.repeat(3_000_000)],
      ]
      for (const [type, body] of bodies) {
        const { status } = await sendRaw(service.url, {
          method: 'POST',
          path: GATEWAY,
          headers: { ...headers, 'content-type': type },
          body,
        })
        expect(status, type).toBe(200)
      }
      const unsent = { ...headers, 'content-type': 'application/json', 'content-length': '50' }
      const early = await sendRaw(service.url, {
        method: 'POST',
        path: GATEWAY,
        headers: unsent,
        body: 'only half',
      })
      expect(early.status).toBe(200)
    })

    test('the gateway takes the path from its own URL, or a scope instead', async () => {
      const at = async (path: string) =>
        (await send(service.url + GATEWAY + path, { headers: bearer(token) })).status
      expect(await at('/v1/vouchers/x?a=b')).toBe(200)
      expect(await at('/v1/campaigns')).toBe(403)
      expect(await at('/v1/campaigns?scope=vouchers')).toBe(403)
      expect(await at('?scope=vouchers')).toBe(200)
      expect(await at('?scope=vouchers%20campaigns')).toBe(403)
      expect(await at('?scope=client_vouchers')).toBe(403)
      expect(await at('')).toBe(403)
      expect(await at('/')).toBe(403)
    })

    test('an allowed call has the effective scope: that of the token within the current permissions of its key', async () => {
      const shrinking = await service.key(project.id, { name: 'shrinking', permissions: ['api'] })
      const [some, all] = [
        await tokenOf(service, shrinking, 'campaigns vouchers orders'),
        await tokenOf(service, shrinking, 'api'),
      ]
      await service.manage('PATCH', shrinking.path, { permissions: ['vouchers', 'orders', 'rewards'] })
      const scopeOf = async (live: string) =>
        (await ask(service.url, '/v1/orders', bearer(live))).headers.get('x-jeton-scope')
      expect(await scopeOf(some)).toBe('vouchers orders')
      expect(await scopeOf(all)).toBe('vouchers orders rewards')
    })
  })

  describe('a refused call', () => {
    const hear = async (path: string, headers: Sent) => {
      const answer = await ask(service.url, path, headers)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.headers.get('x-request-id')).toBe(answer.body.request_id)
      for (const name of [...IDENTITY, 'x-jeton-address', 'x-jeton-expires-in'])
        expect(answer.headers.get(name), name).toBeNull()
      return [answer.status, answer.body.key, answer.headers.get('www-authenticate')]
    }

    test('a refused call gets the challenge of RFC 6750 for a missing token, an invalid token or a missing scope', async () => {
      expect(await hear('/v1/vouchers', {})).toEqual([401, 'unauthorized', 'Bearer'])
      expect(await hear('/v1/vouchers', bearer('jtn_x'))).toEqual([
        401,
        'unauthorized',
        'Bearer error="invalid_token"',
      ])
      expect(await hear('/v1/vouchers', { authorization: 'Bearer' })).toEqual([401, 'unauthorized', 'Bearer'])
      expect(await hear('/v1/skus', bearer(token))).toEqual([
        403,
        'insufficient_scope',
        'Bearer error="insufficient_scope", scope="SKUs"',
      ])
      expect(await hear('/v1/vouchers', { 'x-app-id': key.appId })).toEqual([401, 'unauthorized', 'Bearer'])
      const narrow = await service.key(project.id, { name: 'narrow', permissions: ['orders'] })
      expect(await hear('/v1/vouchers', pairOf(narrow))).toEqual([
        403,
        'insufficient_scope',
        'Bearer error="insufficient_scope", scope="vouchers"',
      ])
    })

    test('a refused call gets 401, 403 or 503 only, since proxies turn other codes into 500', async () => {
      const both = { ...bearer(token), ...pairOf(key) }
      expect(await hear('/v1/vouchers', both)).toEqual([401, 'unauthorized', 'Bearer error="invalid_token"'])
      for (let i = 0; i < 30; i++)
        expect((await hear('/v1/vouchers', { 'x-app-id': key.appId, 'x-app-token': 'jta_wrong' }))[0]).toBe(
          401,
        )
      for (const rest of ['/v1/%', '/v1/%zz', '/%c0', '/v1/vouchers%', '//', '/..', '/v1/%2e%2e'])
        expect(
          (await sendRaw(service.url, { path: GATEWAY + rest, headers: bearer(token) })).status,
          rest,
        ).toBe(403)
    })

    test('a refused call repeats its body in an ASCII header, for proxies that drop bodies', async () => {
      const headers = { ...bearer(token), 'x-original-uri': '/v1/campaigns', 'x-original-method': 'G\xcbT' }
      const { headers: seen, body } = await sendRaw(service.url, { path: GATEWAY, headers })
      expect(seen['x-jeton-error']).toMatch(/^[\x20-\x7e]+$/)
      expect(JSON.parse(seen['x-jeton-error']!)).toEqual(body)
      expect((await ask(service.url, '/v1/vouchers', bearer(token))).headers.get('x-jeton-error')).toBeNull()
    })

    test('a refused call gets the same bytes for a token that is unknown, revoked, or of a blocked or deleted key', async () => {
      const [revoked, blocked, deleted] = await Promise.all(
        ['r', 'b', 'd'].map((name) => service.key(project.id, { name })),
      )
      const dead = await Promise.all(
        [revoked, blocked, deleted].map((one) => tokenOf(service, one!, 'vouchers')),
      )
      for (const one of dead) expect(await statusOf(service.url, '/v1/vouchers', bearer(one))).toBe(200)
      await service.manage('POST', `${revoked!.path}/revoke-tokens`)
      await service.manage('POST', `${blocked!.path}/block`)
      await service.manage('DELETE', deleted!.path)
      const unknown = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`
      const answers = await Promise.all(
        [...dead, unknown].map((one) => ask(service.url, '/v1/vouchers', bearer(one))),
      )
      const seen = answers.map(({ status, headers, text, body }) => {
        const shown = [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id')
        return JSON.stringify([status, shown, text]).replaceAll(body.request_id, '')
      })
      expect(answers[0]!.status).toBe(401)
      expect(new Set(seen).size).toBe(1)
      expect(await hear('/v1/vouchers', pairOf(blocked!))).toEqual([401, 'api_key_blocked', 'Bearer'])
    })

    test('an operator can look up why a call was refused, step by step', async () => {
      const { body } = await ask(service.url, '/v1/vouchers/../campaigns', bearer(token))
      const { body: told } = await service.manage('GET', `/refusals/${body.request_id}`)
      expect([told.step, told.steps.at(-1).passed]).toEqual(['gateway_path', false])
      expect(told.remedy).toContain('X-Original-URI')
    })
  })

  describe('a path', () => {
    test.each([
      '//v1/vouchers',
      '/v1//vouchers',
      '/v1/./vouchers',
      '/v1/../v1/vouchers',
      '/v1/vouchers/%2e%2e/campaigns',
      '/v1/vouchers/%25%32%65%25%32%65/campaigns',
      '/v1/vouchers/%25%32e%25%32e/campaigns',
      '/v1/vouchers/%2525%32e%2525%32e/campaigns',
      '/v1/vouchers%2fx',
      '/v1/vouchers%5Cx',
      '/v1/vouchers;x',
      '/v1/vouchers\\x',
      '/v1/vouchers\tx',
      '/v1/vouchers\xe9',
      '/v1/vouchers%0a',
      '/v2/vouchers',
      '',
    ])('an ambiguous path gets 403 from each source: %j', async (path) => {
      for (const name of ['x-original-uri', 'x-forwarded-uri']) {
        const { status } = await sendRaw(service.url, {
          path: GATEWAY,
          headers: { ...bearer(token), [name]: path },
        })
        expect(status, name).toBe(403)
      }
      if (!/[\s\xe9]/.test(path)) {
        const { status } = await sendRaw(service.url, { path: GATEWAY + path, headers: bearer(token) })
        expect(status).toBe(403)
      }
      if (path !== '') {
        const check = await service.manage('POST', '/access-checks', { access_token: token, path })
        expect(check.body.allowed, 'access check').toBe(false)
      }
    })

    test('a path is matched with a query, with upper case and at great length', async () => {
      for (const path of [
        '/v1/vouchers?scope=campaigns&x=/../',
        '/v1/vouchers/UPPER',
        '/v1/vouchers/Summer%20sale/J%C3%BCrgen/100%25',
        `/v1/vouchers/${'x'.repeat(7_000)}`,
        `/v1/vouchers?${'x'.repeat(7_000)}`,
      ]) {
        expect(await statusOf(service.url, path, bearer(token)), path.slice(0, 50)).toBe(200)
        expect(await statusOf(service.url, path.replace('vouchers', 'campaigns'), bearer(token))).toBe(403)
      }
      expect(await statusOf(service.url, '/v1/Vouchers', bearer(token))).toBe(403)
    })

    test('a second path header beside that of the proxy gets 403', async () => {
      const asked = (headers: string) =>
        sendRaw(service.url, {
          path: GATEWAY,
          headers: { ...bearer(token), 'x-original-uri': `/v1/vouchers\r\n${headers}` },
        })
      expect((await asked('X-Forwarded-Uri: /v1/campaigns')).status).toBe(403)
      expect((await asked('X-Original-URI: /v1/vouchers')).status).toBe(403)
      expect((await asked('X-ORIGINAL-uri: /v1/campaigns')).status).toBe(403)
      expect((await asked('X-Forwarded-Uri: /v1/vouchers?x')).status).toBe(200)
    })
  })
})

/** 127.0.0.1 is the proxy that is trusted; all of 127/8 are addresses of this machine, so anyone can be a stranger. */
eachEngine((engine) => {
  describe('the address of the caller', () => {
    const [TRUSTED, STRANGER, HOME] = ['127.0.0.1', '127.0.0.9', '203.0.113.7']
    let service: TimedService
    let token: string
    let open: string
    let key: Key
    beforeAll(async () => {
      service = await startTimedService(engine, { env: { JETON_TRUSTED_PROXIES: `${TRUSTED},10.0.0.0/8` } })
      const project = await service.project('Addresses')
      key = await service.key(project.id, { ip_whitelist: [HOME, '2001:db8::/32'] })
      token = await tokenOf(service, key, 'vouchers', { 'x-forwarded-for': HOME })
      open = await tokenOf(service, await service.key(project.id, { name: 'open' }), 'vouchers')
    })
    afterAll(() => service.stop())

    const from = async (peer: string, forwarded: string | undefined, credential: Sent) => {
      const headers = {
        ...credential,
        'x-original-uri': '/v1/vouchers',
        ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }),
      }
      const { status, body } = await sendRaw(service.url, { path: GATEWAY, headers, from: peer })
      return status === 200 ? 200 : `${status} ${body.key}`
    }

    test.each([
      ['is the entry that a trusted proxy wrote', TRUSTED, HOME, 200],
      ['is the right-most that is not trusted', TRUSTED, `198.51.100.1, ${HOME}, 10.1.2.3`, 200],
      ['is not what stands to the left of it', TRUSTED, `${HOME}, 198.51.100.1`, '403 ip_not_allowed'],
      ['may be IPv6', TRUSTED, '2001:DB8::1', 200],
      ['may be IPv4-mapped', TRUSTED, `::ffff:${HOME}`, 200],
      ['is the socket’s when the peer is not trusted', STRANGER, HOME, '403 ip_not_allowed'],
      ['is the socket’s when nothing was forwarded', TRUSTED, undefined, '403 ip_not_allowed'],
      ['is unknown when the entry is garbage', TRUSTED, `${HOME}, unknown`, '403 ip_not_allowed'],
      ['is unknown with a port', TRUSTED, `${HOME}:4711`, '403 ip_not_allowed'],
      ['is unknown when empty', TRUSTED, '', '403 ip_not_allowed'],
      ['is unknown after a comma', TRUSTED, `${HOME},`, '403 ip_not_allowed'],
      ['is unknown when quoted', TRUSTED, `"${HOME}"`, '403 ip_not_allowed'],
    ] as const)('%s: %s says %j', async (_, peer, forwarded, expected) => {
      expect(await from(peer, forwarded, bearer(token))).toBe(expected)
      expect(await from(peer, forwarded, pairOf(key))).toBe(expected)
    })

    test('an unknown caller address does not matter to a key without an allowlist', async () => {
      for (const forwarded of [undefined, HOME, 'garbage'])
        expect(await from(TRUSTED, forwarded, bearer(open))).toBe(200)
    })

    test('an allowed call repeats the address that was checked, and says if it is unknown', async () => {
      const addressSeen = async (forwarded: string | undefined) => {
        const headers = {
          ...bearer(open),
          'x-original-uri': '/v1/vouchers',
          ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }),
        }
        const answer = await sendRaw(service.url, { path: GATEWAY, headers, from: TRUSTED })
        return answer.headers['x-jeton-address']
      }
      expect(await addressSeen(undefined)).toBe(TRUSTED)
      expect(await addressSeen(`198.51.100.1, ${HOME}, 10.1.2.3`)).toBe(HOME)
      expect(await addressSeen(`::ffff:${HOME}`)).toBe(HOME)
      expect(await addressSeen('2001:DB8:0::1')).toBe('2001:db8::1')
      expect(await addressSeen('garbage')).toBe('unknown')
    })

    test('no other header sets the caller address', async () => {
      for (const name of [
        'x-real-ip',
        'forwarded',
        'x-client-ip',
        'true-client-ip',
        'cf-connecting-ip',
        'x_forwarded_for',
      ])
        expect(
          await from(TRUSTED, undefined, {
            ...bearer(token),
            [name]: name === 'forwarded' ? `for=${HOME}` : HOME,
          }),
        ).toBe('403 ip_not_allowed')
    })
  })
})

eachEngine((engine) => {
  test('the gateway answers from memory for 30 s without a store, then with 503, and never guesses about unknown tokens', async () => {
    const { env } = await engine.freshStore()
    const onOneStore = { ...engine, settings: async () => env }
    const [service, other] = [await startTimedService(onOneStore), await startTimedService(onOneStore)]
    const project = await service.project('Memory')
    const key = await service.key(project.id, { permissions: ['vouchers', 'orders'] })
    const [known, unknown] = [await tokenOf(service, key, 'vouchers'), await tokenOf(service, key, 'orders')]
    expect(await statusOf(other.url, '/v1/vouchers', bearer(known))).toBe(200)
    expect(await statusOf(other.url, '/v1/vouchers', pairOf(key))).toBe(200)
    const { misses } = other.service.tokenCache
    await other.service.db.close()
    for (let i = 0; i < 5; i++) expect(await statusOf(other.url, '/v1/vouchers', bearer(known))).toBe(200)
    expect(await statusOf(other.url, '/v1/vouchers', pairOf(key))).toBe(200)
    expect(other.service.tokenCache.misses).toBe(misses)
    // A token that lacks the scope will never have it: the store is not asked about it.
    expect(await statusOf(other.url, '/v1/orders', bearer(known))).toBe(403)
    // Its key may have been widened meanwhile, and nobody can send.
    expect(await statusOf(other.url, '/v1/campaigns', pairOf(key))).toBe(503)
    const { status, headers, body } = await ask(other.url, '/v1/orders', bearer(unknown))
    expect([status, headers.get('retry-after'), body.key]).toEqual([503, '5', 'temporarily_unavailable'])
    await other.clock.advance(30_001)
    expect(await statusOf(other.url, '/v1/vouchers', bearer(known))).toBe(503)
    await other.stop()
    await service.stop()
  })
})

eachEngine((engine) => {
  describe('a key that changes takes its live tokens along, in every process', () => {
    let multiProcess: MultiProcess
    let project: { id: string }
    let [here, there]: MultiProcess['processes'] = []
    beforeAll(async () => {
      multiProcess = await startProcesses(engine, 2)
      ;[here, there] = multiProcess.processes
      project = await here!.project('Spread')
    })
    afterAll(() => multiProcess.close())

    let made = 0
    const newKey = (fields: Record<string, unknown>) =>
      here!.key(project.id, { name: `key ${++made}`, ...fields })
    const everywhere = (path: string, headers: Sent) =>
      Promise.all([here!, there!].map(({ url }) => statusOf(url, path, headers)))

    /** Changed in one process it counts there at once, and in the other one within two seconds. */
    async function shrinks(key: Key, change: object, expected: number): Promise<void> {
      const credentials = [bearer(await tokenOf(here!, key, 'vouchers')), pairOf(key)]
      for (const one of credentials) expect(await everywhere('/v1/vouchers', one)).toEqual([200, 200])
      expect((await here!.manage('PATCH', key.path, change)).status).toBe(200)
      for (const one of credentials) expect(await statusOf(here!.url, '/v1/vouchers', one)).toBe(expected)
      await multiProcess.advance(2_000)
      // The time does not move from here on. The test only waits for a response of the store.
      for (const one of credentials)
        await expect.poll(() => statusOf(there!.url, '/v1/vouchers', one)).toBe(expected)
    }

    test('narrowed permissions of a key apply to its active tokens in every process', async () => {
      await shrinks(await newKey({ permissions: ['vouchers', 'orders'] }), { permissions: ['orders'] }, 403)
    })

    test('a narrowed allowlist of a key applies to its active tokens in every process', async () => {
      await shrinks(
        await newKey({ ip_whitelist: ['127.0.0.1', '10.0.0.1'] }),
        { ip_whitelist: ['10.0.0.1'] },
        403,
      )
      await shrinks(await newKey({ ip_whitelist: [] }), { ip_whitelist: ['10.0.0.1'] }, 403)
    })

    test('widened permissions apply at once, since a process asks the store before it refuses', async () => {
      const key = await newKey({ permissions: ['vouchers'], ip_whitelist: ['127.0.0.1'] })
      const token = bearer(await tokenOf(here!, key, 'vouchers'))
      await here!.manage('PATCH', key.path, { ip_whitelist: ['10.0.0.1'] })
      expect(await everywhere('/v1/vouchers', token)).toEqual([403, 403])
      await here!.manage('PATCH', key.path, { ip_whitelist: [], permissions: ['vouchers', 'orders'] })
      expect(await everywhere('/v1/vouchers', token)).toEqual([200, 200])
      expect(await everywhere('/v1/orders', pairOf(key))).toEqual([200, 200])
      expect(await everywhere('/v1/orders', token)).toEqual([403, 403])
    })

    test('a key that was widened and then blocked is blocked, since the whole state of the store counts', async () => {
      const key = await newKey({ permissions: ['vouchers'] })
      const credentials = [bearer(await tokenOf(here!, key, 'vouchers')), pairOf(key)]
      for (const one of credentials) expect(await everywhere('/v1/vouchers', one)).toEqual([200, 200])
      await here!.manage('PATCH', key.path, { permissions: ['orders'] })
      await there!.pollChanges()
      await here!.manage('PATCH', key.path, { permissions: ['vouchers'] })
      await here!.manage('POST', `${key.path}/block`)
      // A wake-up of PostgreSQL may have told of the widening alone: then the blocking is known within 2 s.
      for (const one of credentials)
        await expect.poll(() => statusOf(there!.url, '/v1/vouchers', one)).toBe(401)
    })
  })
})
