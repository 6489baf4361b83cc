import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ERRORS, type ErrorKey } from '../../src/contract/error-keys.ts'
import { SCOPE_VALUES } from '../../src/contract/scopes.ts'
import { eachEngine } from '../engines.ts'
import { rawRequest } from '../raw-request.ts'
import { type Answer, type Pair, startService, type TestService } from '../service.ts'
import { TestClock } from '../test-clock.ts'

const FORM = 'application/x-www-form-urlencoded'
const TOKEN = '/v1/oauth/token'
const ENDPOINTS = [
  TOKEN,
  '/v1/oauth/introspect',
  '/oauth/introspect',
  '/v1/oauth/token/revoke',
  '/v1/oauth/revoke',
]
const GRANT = 'grant_type=client_credentials'

type Headers = readonly (readonly [string, string])[]

/** Everything in a response by which a caller could tell two cases apart. */
function seen({ status, headers, body }: Answer) {
  const { date: _, 'x-request-id': __, ...rest } = Object.fromEntries(headers)
  return { status, headers: rest, body: { ...body, request_id: '…' } }
}

eachEngine((engine) => {
  let service: TestService
  let projectId: string
  let key: Awaited<ReturnType<TestService['key']>>
  let address = 0

  beforeAll(async () => {
    const env = { ...(await engine.settings()), JETON_TRUSTED_PROXIES: '127.0.0.1' }
    service = await startService(env, { clock: new TestClock(Date.now()) })
    projectId = (await service.project('Club')).id
    key = await service.key(projectId)
  })
  afterAll(() => service.stop())

  /** From an address of its own each time, so that wrong credentials are not throttled. */
  const own = (): readonly [string, string] => ['X-Forwarded-For', `10.0.${address >> 8}.${address++ & 255}`]
  const headersOf = ({ appId, appToken }: Pair): [string, string][] => [
    ['X-App-Id', appId],
    ['X-App-Token', appToken],
  ]
  const post = (
    path: string,
    body: string | Buffer,
    headers: Headers = headersOf(key),
    type: string | null = FORM,
  ) =>
    rawRequest(service.url, {
      path,
      body,
      headers: [own(), ...headers, ...(type === null ? [] : ([['Content-Type', type]] as const))],
    })
  const ask = (scope: string) => post(TOKEN, `${GRANT}&scope=${encodeURIComponent(scope)}`)

  /** Expects a complete error in both formats, without internals. */
  function expectError(answer: Answer, expected: ErrorKey, oauth: string = ERRORS[expected].oauth): void {
    expect([answer.status, answer.body?.key, answer.body?.error]).toEqual([
      ERRORS[expected].status,
      expected,
      oauth,
    ])
    expect(answer.body).toMatchObject({
      code: answer.status,
      message: expect.any(String),
      details: expect.any(String),
      request_id: answer.headers.get('x-request-id'),
      error_description: expect.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/),
    })
    expect(answer.headers.get('content-type')).toContain('application/json')
    expect([answer.headers.get('cache-control'), answer.headers.get('pragma')]).toEqual([
      'no-store',
      'no-cache',
    ])
    expect(answer.text).not.toMatch(
      /at \S+ \(|node_modules|\.ts\b|select |insert |sqlite|postgres|jta_|jtn_/i,
    )
    expect(answer.text).not.toContain(key.appToken)
  }

  describe('the form', () => {
    test.each([
      ['a scope', `${GRANT}&scope=vouchers&scope=rewards`],
      ['a scope, the same', `${GRANT}&scope=vouchers&scope=vouchers`],
      ['a scope under an encoded name', `${GRANT}&scope=vouchers&sc%6Fpe=rewards`],
      ['a grant', `${GRANT}&${GRANT}&scope=vouchers`],
      ['a field that nobody knows', `${GRANT}&scope=vouchers&x=1&x=2`],
    ])('a form with %s twice is refused', async (_, body) => {
      expectError(await post(TOKEN, body), 'duplicate_parameter')
    })

    test.each([
      ['a percent sign alone', `${GRANT}&scope=%`],
      ['half an escape', `${GRANT}&scope=%4`],
      ['an escape that is no number', `${GRANT}&scope=%zz`],
      ['an escape that is no UTF-8', `${GRANT}&scope=%ff%fe`],
      ['half of a surrogate pair', `${GRANT}&scope=%ed%a0%80`],
      ['bytes that are no UTF-8', Buffer.concat([Buffer.from(`${GRANT}&scope=`), Buffer.from([0xc3, 0x28])])],
      ['a null byte', `${GRANT}&scope=vouchers\0`],
      ['an encoded null byte', `${GRANT}&scope=vouchers%00`],
      ['a null byte in a name', `${GRANT}&scope=vouchers&%00=1`],
    ])('with %s is refused', async (_, body) => {
      expectError(await post(TOKEN, body), 'invalid_payload')
    })

    test('a form without a field is refused with the name of the field', async () => {
      const noGrant = await post(TOKEN, 'scope=vouchers')
      expectError(noGrant, 'missing_parameters')
      expect(noGrant.body.message).toContain('grant_type')
      const noScope = await post(TOKEN, GRANT)
      expectError(noScope, 'missing_parameters', 'invalid_scope')
      expect(noScope.body.message).toContain('scope')
      expectError(await post(TOKEN, ''), 'missing_parameters')
      expectError(await post(TOKEN, '', headersOf(key), null), 'missing_parameters')
      for (const path of ENDPOINTS.slice(1)) expectError(await post(path, 'tokens=x'), 'missing_parameters')
    })

    test('form fields count only in the body, never in the URL', async () => {
      expectError(await post(`${TOKEN}?${GRANT}&scope=vouchers`, ''), 'missing_parameters')
      const inAddress = `${TOKEN}?client_id=${key.appId}&client_secret=${key.appToken}`
      expectError(await post(inAddress, `${GRANT}&scope=vouchers`, []), 'unauthorized')
    })

    test.each([
      'password',
      'authorization_code',
      'refresh_token',
      'Client_Credentials',
      'client_credentials ',
      '',
      '"\\\u00e9\n',
    ])('the grant %j is refused', async (grant) => {
      expectError(
        await post(TOKEN, `grant_type=${encodeURIComponent(grant)}&scope=vouchers`),
        'invalid_grant_type',
      )
    })

    test('a form with different token and access_token is refused', async () => {
      for (const path of ENDPOINTS.slice(1))
        expectError(await post(path, 'token=a&access_token=b'), 'duplicate_parameter')
    })
  })

  describe('the scope', () => {
    test.each([
      ['empty', ''],
      ['a comma', 'vouchers,rewards'],
      ['a comma and a space', 'vouchers, rewards'],
      ['a tab', 'vouchers\trewards'],
      ['two spaces', 'vouchers  rewards'],
      ['a space at the end', 'vouchers '],
      ['a space at the beginning', ' vouchers'],
      ['a line break', 'vouchers\r\nrewards'],
      ['an unknown value', 'vouchers everything'],
      ['the wrong case', 'SKUS'],
      ['the wrong case of all', 'VOUCHERS'],
      ['a quote', 'vouchers"'],
      ['another alphabet', 'vоuchers'],
      ['43 values', [...SCOPE_VALUES, 'api'].join(' ')],
      ['a thousand times the same', Array(1_000).fill('vouchers').join(' ')],
      ['more than the key is permitted', 'vouchers client_vouchers'],
    ])('a scope with %s is invalid', async (_, scope) => {
      expectError(await ask(scope), 'invalid_scope')
    })

    test('a scope of 10,000 values is refused as too large', async () => {
      expectError(await ask(Array(10_000).fill('vouchers').join(' ')), 'payload_too_large')
    })
  })

  describe('the media type', () => {
    test.each([
      ['JSON', 'application/json', '{"grant_type":"client_credentials","scope":"vouchers"}'],
      ['a multipart form', 'multipart/form-data; boundary=x', '--x\r\n\r\n--x--'],
      ['text', 'text/plain', `${GRANT}&scope=vouchers`],
      ['none', null, `${GRANT}&scope=vouchers`],
      ['an empty one', '', `${GRANT}&scope=vouchers`],
      ['two in one header', `${FORM}, application/json`, `${GRANT}&scope=vouchers`],
      ['one that only begins like a form', `${FORM}x`, `${GRANT}&scope=vouchers`],
    ])('the media type %s is refused at every endpoint', async (_, type, body) => {
      for (const path of ENDPOINTS)
        expectError(await post(path, body, headersOf(key), type), 'unsupported_media_type')
    })

    test.each([
      `${FORM};charset=UTF-8`,
      `${FORM}; charset=utf-8`,
      FORM.toUpperCase(),
      `${FORM} ; charset="utf-8"`,
    ])('the media type %s is accepted', async (type) => {
      expect((await post(TOKEN, `${GRANT}&scope=vouchers`, headersOf(key), type)).status).toBe(200)
    })

    test('two media types are refused in either order', async () => {
      for (const types of [
        [FORM, 'application/json'],
        ['application/json', FORM],
        [FORM, FORM],
      ])
        expectError(
          await post(
            TOKEN,
            `${GRANT}&scope=vouchers`,
            [...headersOf(key), ['content-type', types[0]!]],
            types[1]!,
          ),
          'duplicate_parameter',
        )
    })

    test('a JSON body is refused before the credential is checked', async () => {
      const wrong = headersOf({ appId: key.appId, appToken: 'wrong' })
      expectError(await post(TOKEN, '{}', wrong, 'application/json'), 'unsupported_media_type')
    })
  })

  test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    'the method %s is refused at every endpoint, with the allowed ones',
    async (method) => {
      for (const path of ENDPOINTS) {
        const answer = await rawRequest(service.url, { method, path, headers: headersOf(key) })
        expectError(answer, 'method_not_allowed')
        expect(answer.headers.get('allow')).toBe('POST')
      }
    },
  )

  test('every endpoint refuses a token of a megabyte unread, and one slightly above the limit', async () => {
    for (const path of ENDPOINTS) {
      expectError(await post(path, `token=jtn_${'x'.repeat(1024 * 1024)}`), 'payload_too_large')
      expectError(await post(path, `token=jtn_${'x'.repeat(16 * 1024)}`), 'payload_too_large')
    }
    expect((await post('/v1/oauth/introspect', `token=jtn_${'x'.repeat(15 * 1024)}`)).text).toBe(
      '{"active":false}',
    )
  })

  test('headers of 20 KB are refused, and the service continues', async () => {
    const answer = await rawRequest(service.url, {
      path: TOKEN,
      headers: [['X-App-Token', 'x'.repeat(20_000)]],
    })
    expect([answer.status, answer.body?.key]).toEqual([431, 'headers_too_large'])
    expect((await ask('vouchers')).status).toBe(200)
  })

  describe('credentials', () => {
    const asBasic = (text: string): [string, string] => [
      'Authorization',
      `Basic ${Buffer.from(text).toString('base64')}`,
    ]
    const form = (id: string, secret: string) =>
      `${GRANT}&scope=vouchers&client_id=${id}&client_secret=${secret}`

    test('credentials that differ between two places are refused, even if one is right', async () => {
      const { appId, appToken } = key
      const right = headersOf(key)
      const cases: [string, Headers][] = [
        [form(appId, 'wrong'), right],
        [form('wrong', appToken), right],
        [form('wrong', appToken), [asBasic(`${appId}:${appToken}`)]],
        [`${GRANT}&scope=vouchers`, [...right, asBasic(`${appId}:wrong`)]],
        [
          `${GRANT}&scope=vouchers`,
          [...headersOf({ appId, appToken: 'wrong' }), asBasic(`${appId}:${appToken}`)],
        ],
      ]
      for (const [body, headers] of cases)
        expectError(await post(TOKEN, body, headers), 'conflicting_credentials')
    })

    test('equal credentials in several places are accepted', async () => {
      const { appId, appToken } = key
      const headers = [...headersOf(key), asBasic(`${appId}:${appToken}`)]
      expect((await post(TOKEN, form(appId, appToken), headers)).status).toBe(200)
    })

    test('a bearer token together with a key pair is refused, even if both are right', async () => {
      const { body } = await service.issue(key, 'api')
      const bearer: [string, string] = ['Authorization', `Bearer ${body.access_token}`]
      for (const path of ENDPOINTS) {
        expectError(
          await post(path, `token=${body.access_token}`, [...headersOf(key), bearer]),
          'conflicting_credentials',
        )
        const inForm = `token=${body.access_token}&client_id=${key.appId}&client_secret=${key.appToken}`
        expectError(await post(path, inForm, [bearer]), 'conflicting_credentials')
      }
    })

    test('two Authorization headers are refused, even if the first is right', async () => {
      const [right, wrong] = [asBasic(`${key.appId}:${key.appToken}`), asBasic(`${key.appId}:wrong`)]
      expectError(await post(TOKEN, `${GRANT}&scope=vouchers`, [right, wrong]), 'duplicate_parameter')
    })

    test('missing, unknown, wrong, incomplete and deleted credentials get the same response', async () => {
      const deleted = await service.key(projectId)
      await service.manage('DELETE', deleted.path)
      const uuid = '00000000-0000-4000-8000-000000000000'
      const cases: Headers[] = [
        [],
        headersOf({ appId: uuid, appToken: key.appToken }),
        headersOf({ appId: 'not even an id', appToken: key.appToken }),
        headersOf({ appId: key.appId, appToken: 'wrong' }),
        headersOf({
          appId: key.appId,
          appToken: key.appToken.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x')),
        }),
        headersOf(deleted),
        headersOf({ appId: `${key.appId}, ${key.appId}`, appToken: key.appToken }),
        [['X-App-Id', key.appId]],
        [['X-App-Token', key.appToken]],
      ]
      for (const path of ENDPOINTS) {
        const answers = await Promise.all(
          cases.map((headers) => post(path, `${GRANT}&scope=vouchers&token=x`, headers)),
        )
        expectError(answers[0]!, 'unauthorized', 'invalid_client')
        for (const answer of answers) expect(seen(answer)).toEqual(seen(answers[0]!))
      }
    })

    test('the response to wrong credentials reveals nothing about the state, allowlist, permissions or limit of the key', async () => {
      const full = await service.key(projectId, { token_limit: 1 })
      await service.issue(full)
      const blocked = await service.key(projectId)
      await service.manage('POST', `${blocked.path}/block`)
      const elsewhere = await service.key(projectId, { ip_whitelist: ['192.0.2.1'] })
      const narrow = await service.key(projectId, { permissions: ['rewards'] })
      const answers = await Promise.all(
        [key, full, blocked, elsewhere, narrow].flatMap(({ appId }) =>
          [`${GRANT}&scope=vouchers`, `${GRANT}&scope=nothing`, 'grant_type=password', ''].map((body) =>
            post(TOKEN, body, headersOf({ appId, appToken: 'wrong' })),
          ),
        ),
      )
      for (const answer of answers) expect(seen(answer)).toEqual(seen(answers[0]!))
      expectError(answers[0]!, 'unauthorized', 'invalid_client')
    })

    test('valid credentials are checked in order: blocked, address, grant, scope, limit', async () => {
      const worst = await service.key(projectId, {
        permissions: ['rewards'],
        ip_whitelist: ['192.0.2.1'],
        token_limit: 1,
      })
      const everythingWrong = () => post(TOKEN, 'grant_type=password&scope=nothing', headersOf(worst))
      await service.manage('POST', `${worst.path}/block`)
      expectError(await everythingWrong(), 'api_key_blocked')
      await service.manage('POST', `${worst.path}/unblock`)
      expectError(await everythingWrong(), 'ip_not_allowed')
      await service.manage('PATCH', worst.path, { ip_whitelist: [] })
      expect((await service.issue(worst, 'rewards')).status).toBe(200)
      expectError(await everythingWrong(), 'invalid_grant_type')
      expectError(await post(TOKEN, `${GRANT}&scope=nothing`, headersOf(worst)), 'invalid_scope')
      const limited = await post(TOKEN, `${GRANT}&scope=rewards`, headersOf(worst))
      expectError(limited, 'token_limit_reached')
      expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0)
    })

    test('Basic credentials that cannot be decoded are wrong credentials', async () => {
      for (const value of [
        'Basic',
        'Basic ',
        'Basic !!!',
        'Basic :',
        `Basic ${Buffer.from('a').toString('base64')}`,
        'Digest x',
        'x',
      ])
        expectError(
          await post(TOKEN, `${GRANT}&scope=vouchers`, [['Authorization', value]]),
          'unauthorized',
          'invalid_client',
        )
    })

    test('wrong credentials get a challenge only if the request used Authorization', async () => {
      const challenge = async (headers: Headers, body = `${GRANT}&scope=vouchers&token=x`) =>
        (await post('/v1/oauth/introspect', body, headers)).headers.get('www-authenticate')
      expect(await challenge([])).toBeNull()
      expect(await challenge(headersOf({ appId: key.appId, appToken: 'wrong' }))).toBeNull()
      expect(await challenge([], form(key.appId, 'wrong'))).toBeNull()
      expect(await challenge([asBasic(`${key.appId}:wrong`)])).toMatch(/^Basic realm=/)
      expect(await challenge([['Authorization', 'Bearer wrong']])).toBe('Bearer error="invalid_token"')
      // A valid credential without the permission gets no challenge.
      expect(await challenge([asBasic(`${key.appId}:${key.appToken}`)], '')).toBeNull()
    })

    test('wrong credentials are throttled after too many attempts, while right ones are accepted', async () => {
      const from: [string, string] = ['X-Forwarded-For', '203.0.113.7']
      const guess = () =>
        rawRequest(service.url, {
          path: TOKEN,
          body: `${GRANT}&scope=vouchers`,
          headers: [from, ['Content-Type', FORM], ...headersOf({ appId: key.appId, appToken: 'guess' })],
        })
      for (let i = 0; i < 20; i++) expectError(await guess(), 'unauthorized', 'invalid_client')
      const throttled = await guess()
      expectError(throttled, 'too_many_attempts')
      expect(Number(throttled.headers.get('retry-after'))).toBeGreaterThan(0)
      const right = await rawRequest(service.url, {
        path: TOKEN,
        body: `${GRANT}&scope=vouchers`,
        headers: [from, ['Content-Type', FORM], ...headersOf(key)],
      })
      expect(right.status).toBe(200)
    })
  })

  test('a null byte or non-ASCII character in a header or field never causes a store error', async () => {
    const texts = ['é', '\u{1f389}', "' or 1=1 --", '%00', '\u2028', 'x'.repeat(5_000)]
    for (const text of texts) {
      const encoded = encodeURIComponent(text)
      const body = `${GRANT}&scope=vouchers&client_id=${encoded}&client_secret=${encoded}`
      const answer = await post(TOKEN, body, [])
      expect([answer.status, answer.body.key]).toEqual([401, 'unauthorized'])
      const asked = await post('/v1/oauth/introspect', `token=${encoded}`)
      expect(asked.text).toBe('{"active":false}')
    }
  })
})
