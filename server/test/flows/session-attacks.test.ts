import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eachEngine } from '../engines.ts'
import {
  byCookie,
  byPair,
  CONSOLE,
  type Credential,
  cookieOf,
  managerWith,
  newOperator,
  newSession,
  pairOf,
  signIn,
  withoutRequest,
} from '../operators.ts'
import { rawRequest } from '../raw-request.ts'
import { type Answer, OPERATOR, send } from '../service.ts'
import { startTimedService, type TimedService } from '../timed-service.ts'

const UNSAFE = ['POST', 'PATCH', 'DELETE'] as const
const MARK = { 'x-jeton-console': '1' }

/** Headers that a browser adds to a request that another page has caused. */
const FORGED: readonly (readonly [string, Record<string, string>])[] = [
  ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
  ['another port of the same host', { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:9999' }],
  ['a page without an origin', { 'sec-fetch-site': 'cross-site', origin: 'null' }],
  ['a bookmark', { 'sec-fetch-site': 'none' }],
  ['a browser that says nothing', {}],
  ['an unknown word', { 'sec-fetch-site': 'same-origin-ish' }],
  ['two words', { 'sec-fetch-site': 'same-origin, cross-site' }],
]

const keyOf = ({ status, body }: Answer) => [status, body.key]
const FORBIDDEN = [403, 'forbidden_origin']

eachEngine((engine) => {
  let service: TimedService
  let admin: Credential
  let cookie: string
  beforeAll(async () => {
    const env = { JETON_TRUSTED_PROXIES: '127.0.0.9' }
    service = await startTimedService(engine, { worker: false, env })
    admin = await newOperator(service, 'admin')
    cookie = await newSession(service.url, admin)
  })
  afterAll(() => service.stop())

  const projects = async () => (await service.manage('GET', '/projects')).body.total
  const whoami = (headers: object) =>
    managerWith(service.url, headers as Record<string, string>)('GET', '/whoami')

  describe('a request with a cookie', () => {
    test.each(FORGED)('of %s changes nothing, with and without the header', async (_, site) => {
      const before = await projects()
      for (const mark of [{}, MARK])
        for (const method of UNSAFE) {
          const manage = byCookie(service.url, cookie, { ...mark, ...site })
          const path = method === 'POST' ? '/projects' : `/operators/${OPERATOR.id}`
          expect(keyOf(await manage(method, path, { name: 'Forged' })), method).toEqual(FORBIDDEN)
        }
      expect(await projects()).toBe(before)
    })

    test.each(FORGED)('of %s reads nothing without the header', async (_, site) => {
      expect(keyOf(await whoami({ cookie, ...site }))).toEqual(FORBIDDEN)
    })

    test.each(['0', 'true', '1, 1', ' ', 'Poll', '1;'])('with the header %j is refused', async (mark) => {
      const headers = { cookie, 'sec-fetch-site': 'same-origin', 'x-jeton-console': mark }
      expect(keyOf(await whoami(headers))).toEqual(FORBIDDEN)
    })

    test('that says it polls may only read', async () => {
      const poll = { ...CONSOLE, 'x-jeton-console': 'poll' }
      expect((await whoami({ cookie, ...poll })).status).toBe(200)
      for (const method of UNSAFE)
        expect(
          keyOf(await byCookie(service.url, cookie, poll)(method, '/sessions/current', {})),
        ).not.toContain(204)
      expect((await whoami({ cookie, ...CONSOLE })).status).toBe(200)
    })

    test('does not count over plain http at another host, nor with a host that only looks local', async () => {
      for (const host of ['jeton.example', '127.0.0.2:80', 'localhost.evil.example', 'evil.example:80']) {
        const port = host.split(':')[1] ?? '80'
        const value = cookie.split('=')[1]
        for (const name of [cookie.split('=')[0], `jeton_session_${port}`, '__Host-jeton_session']) {
          const headers = Object.entries({ ...CONSOLE, host, cookie: `${name}=${value}` })
          const answer = await rawRequest(service.url, {
            method: 'GET',
            path: '/management/v1/whoami',
            headers,
          })
          expect(keyOf(answer), `${host} ${name}`).toEqual([401, 'unauthorized'])
        }
      }
    })

    test('of another port or scheme does not count', async () => {
      const value = cookie.split('=')[1]
      for (const name of ['jeton_session_1', 'jeton_session', '__Host-jeton_session', 'JETON_SESSION_1'])
        expect((await whoami({ ...CONSOLE, cookie: `${name}=${value}` })).status, name).toBe(401)
      const https = { ...CONSOLE, 'x-forwarded-proto': 'https', cookie: `__Host-jeton_session=${value}` }
      expect((await whoami(https)).status).toBe(401)
    })

    test('and the header pair of an operator is refused, whichever of them is right', async () => {
      const conflict = [400, 'conflicting_credentials']
      const made = `${cookie.split('=')[0]}=jts_${'x'.repeat(49)}`
      for (const sent of [cookie, made])
        for (const pair of [pairOf(admin), { 'x-management-id': admin.id }, { 'x-management-token': 'x' }])
          expect(keyOf(await whoami({ ...CONSOLE, cookie: sent, ...pair }))).toEqual(conflict)
      expect(keyOf(await whoami({ ...CONSOLE, cookie: `${cookie}; ${made}` }))).toEqual(conflict)
    })

    test('that was made up, cut or changed is refused like one that is over', async () => {
      const over = await newSession(service.url, admin)
      await byCookie(service.url, over)('DELETE', '/sessions/current')
      const expected = withoutRequest(await whoami({ ...CONSOLE, cookie: over }))
      const [name, value = ''] = cookie.split('=')
      const swapped = value.slice(0, 20) + (value[20] === 'A' ? 'B' : 'A') + value.slice(21)
      for (const wrong of ['', 'x', 'null', value.slice(0, -1), `${value}x`, swapped, value.toUpperCase()]) {
        const answer = await whoami({ ...CONSOLE, cookie: `${name}=${wrong}` })
        expect([answer.status, withoutRequest(answer)], wrong).toEqual([401, expected])
      }
    })

    test('of a session cannot create a login code, so that a stolen one starts no other', async () => {
      const answer = await byCookie(service.url, cookie)('POST', '/login-codes')
      expect(keyOf(answer)).toEqual([401, 'unauthorized'])
    })
  })

  describe('signing in', () => {
    test.each(FORGED)('cannot be forged by %s', async (_, site) => {
      for (const mark of [{}, MARK]) {
        const answer = await signIn(service.url, admin, { ...mark, ...site })
        expect(keyOf(answer)).toEqual(FORBIDDEN)
        expect(answer.headers.get('set-cookie')).toBeNull()
      }
      expect(keyOf(await signIn(service.url, admin, { 'sec-fetch-site': 'same-origin' }))).toEqual(FORBIDDEN)
    })

    test('is refused behind a proxy that rewrites the host, where the cookie would lack Secure', async () => {
      const own = service.url
      for (const origin of ['https://jeton.example', own.replace('http:', 'https:'), 'null']) {
        const answer = await signIn(own, admin, { ...CONSOLE, origin })
        expect(keyOf(answer), origin).toEqual(FORBIDDEN)
        expect(answer.headers.get('set-cookie')).toBeNull()
      }
      expect((await signIn(own, admin, { ...CONSOLE, origin: own })).status).toBe(201)
    })

    test('is refused before the body is read, and over plain http at another host', async () => {
      const ask = (headers: Record<string, string>, body: string) =>
        rawRequest(service.url, { path: '/management/v1/sessions', headers: Object.entries(headers), body })
      expect(keyOf(await ask({ 'content-type': 'nonsense' }, '{'))).toEqual(FORBIDDEN)
      const json = { ...CONSOLE, 'content-type': 'application/json' }
      const { id, token } = admin
      const body = JSON.stringify({ id, token })
      for (const host of ['jeton.example', 'jeton.example:8080', '10.0.0.1', 'localhost.example']) {
        const answer = await ask({ ...json, host }, body)
        expect([...keyOf(answer), answer.headers.get('set-cookie')]).toEqual([...FORBIDDEN, null])
        expect(answer.body.details).toContain('JETON_TRUSTED_PROXIES')
      }
      // https counts only if a trusted proxy says so.
      const claimed = await ask({ ...json, host: 'jeton.example', 'x-forwarded-proto': 'https' }, body)
      expect(keyOf(claimed)).toEqual(FORBIDDEN)
    })

    test('over https behind a trusted proxy sets a Secure cookie with the prefix __Host-', async () => {
      const env = { JETON_TRUSTED_PROXIES: '127.0.0.1' }
      const behind = await startTimedService(engine, { worker: false, env })
      const https = { ...CONSOLE, 'x-forwarded-proto': 'https' }
      const answer = await signIn(behind.url, { id: OPERATOR.id, token: OPERATOR.token }, https)
      expect(answer.headers.get('set-cookie')).toMatch(
        /^__Host-jeton_session=jts_[\w-]{49}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
      )
      const sent = cookieOf(answer)
      expect((await byCookie(behind.url, sent, https)('GET', '/whoami')).status).toBe(200)
      expect((await byCookie(behind.url, sent)('GET', '/whoami')).status).toBe(401)
      await behind.stop()
    })

    test('never takes over a cookie that was there before, and replaces the session that it had', async () => {
      const [name] = cookie.split('=')
      const planted = `jts_${'x'.repeat(49)}`
      const { id, token } = admin
      const first = await signIn(service.url, { id, token }, { ...CONSOLE, cookie: `${name}=${planted}` })
      expect(cookieOf(first)).not.toContain(planted)
      expect((await whoami({ ...CONSOLE, cookie: `${name}=${planted}` })).status).toBe(401)
      const again = await signIn(service.url, { id, token }, { ...CONSOLE, cookie: cookieOf(first) })
      expect((await whoami({ ...CONSOLE, cookie: cookieOf(again) })).status).toBe(200)
      expect((await whoami({ ...CONSOLE, cookie: cookieOf(first) })).status).toBe(401)
    })

    test('has one answer for a wrong id, token and code, and is throttled', async () => {
      const { code } = (await byPair(service.url, admin)('POST', '/login-codes')).body
      await signIn(service.url, { code })
      const { id, token } = admin
      const wrong = [
        { id, token: 'wrong' },
        { id: 'op_nobody', token },
        { code },
        { code: 'jtl_made-up' },
        { code: token },
      ]
      const answers: string[] = []
      for (const body of wrong) {
        const answer = await signIn(service.url, body)
        expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null])
        answers.push(withoutRequest(answer))
      }
      expect(new Set(answers).size).toBe(1)
      const statuses: number[] = []
      for (let i = 0; i < 21; i++)
        statuses.push((await signIn(service.url, { id, token: `wrong ${i}` })).status)
      expect([statuses[0], statuses.at(-1)]).toEqual([401, 429])
      // The right one is served all the same.
      expect((await signIn(service.url, { id, token })).status).toBe(201)
      for (let i = 0; i < 21; i++) statuses.push((await signIn(service.url, { code: `jtl_${i}` })).status)
      expect(statuses.at(-1)).toBe(429)
    })

    test('with one code twice at once succeeds once', async () => {
      for (let round = 0; round < 3; round++) {
        const { code } = (await byPair(service.url, admin)('POST', '/login-codes')).body
        const answers = await Promise.all(Array.from({ length: 8 }, () => signIn(service.url, { code })))
        expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
        expect(answers.every(({ status }) => [201, 401, 429].includes(status))).toBe(true)
      }
    })

    test('takes id and token, or a code, and nothing else', async () => {
      const { id, token } = admin
      for (const body of [
        {},
        { id },
        { token },
        { id, code: 'x' },
        { id, token, code: 'x' },
        { id, token, x: 1 },
      ])
        expect((await signIn(service.url, body)).status, JSON.stringify(body)).toBe(400)
    })
  })

  describe('too many sign-ins', () => {
    test('an operator may sign in 60 times per minute and create 60 codes, and others are not affected', async () => {
      const busy = await newOperator(service, 'viewer')
      const newCode = () => byPair(service.url, busy)('POST', '/login-codes')
      const { code } = (await newCode()).body
      for (let i = 0; i < 59; i++) expect((await newCode()).status).toBe(201)
      for (let i = 0; i < 60; i++) expect((await signIn(service.url, busy)).status).toBe(201)
      for (const refused of [await newCode(), await signIn(service.url, busy)]) {
        expect([refused.status, refused.body.key]).toEqual([429, 'too_many_requests'])
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      }
      expect((await signIn(service.url, { code })).status).toBe(429)
      expect((await signIn(service.url, await newOperator(service, 'viewer'))).status).toBe(201)
      await service.advance(60_000)
      expect((await signIn(service.url, busy)).status).toBe(201)
    })
  })

  describe('what is over', () => {
    test('a deleted operator has neither sessions nor codes left', async () => {
      const gone = await newOperator(service, 'admin')
      const own = await newSession(service.url, gone)
      const { code } = (await byPair(service.url, gone)('POST', '/login-codes')).body
      expect((await service.manage('DELETE', `/operators/${gone.id}`)).status).toBe(204)
      expect((await whoami({ ...CONSOLE, cookie: own })).status).toBe(401)
      expect([401, 429]).toContain((await signIn(service.url, { code })).status)
    })

    test('a regenerated operator has neither sessions nor codes left', async () => {
      const before = await newOperator(service, 'admin')
      const own = await newSession(service.url, before)
      const { code } = (await byPair(service.url, before)('POST', '/login-codes')).body
      const { token } = (await service.manage('POST', `/operators/${before.id}/regenerate`)).body
      expect((await whoami({ ...CONSOLE, cookie: own })).status).toBe(401)
      expect([401, 429]).toContain((await signIn(service.url, { code })).status)
      expect((await signIn(service.url, { id: before.id, token })).status).toBe(201)
    })
  })

  test('no answer grants another origin anything', async () => {
    const origin = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
    for (const path of ['/management/v1/sessions', '/management/v1/projects', '/docs', '/v1/oauth/token'])
      for (const method of ['OPTIONS', 'GET', 'POST']) {
        const { headers } = await send(service.url + path, { method, headers: origin })
        const granted = [...headers.keys()].filter((name) => name.startsWith('access-control-'))
        expect(granted, `${method} ${path}`).toEqual([])
      }
  })
})
