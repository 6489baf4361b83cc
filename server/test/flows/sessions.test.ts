import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eachEngine } from '../engines.ts'
import {
  byCookie,
  byPair,
  bySession,
  CONSOLE,
  type Credential,
  cookieOf,
  newOperator,
  newSession,
  signIn,
} from '../operators.ts'
import { OPERATOR, send } from '../service.ts'
import { everythingIn, startTimedService, type TimedService } from '../timed-service.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

eachEngine((engine) => {
  let service: TimedService
  let anna: Credential
  beforeAll(async () => {
    service = await startTimedService(engine, { worker: false })
    anna = await newOperator(service, 'viewer')
  })
  afterAll(() => service.stop())

  const code = async (operator: Credential) =>
    (await byPair(service.url, operator)('POST', '/login-codes')).body
  const isAlive = async (cookie: string, headers: Record<string, string> = CONSOLE): Promise<boolean> => {
    const { status } = await byCookie(service.url, cookie, headers)('GET', '/whoami')
    expect([200, 401]).toContain(status)
    return status === 200
  }
  const POLL = { ...CONSOLE, 'x-jeton-console': 'poll' }
  /** When the session was last used, as it is stored. Asking is no use of it. */
  const lastUse = async (cookie: string): Promise<number> => {
    const { body } = await byCookie(service.url, cookie, POLL)('GET', '/whoami')
    return Date.parse(body.session.last_used_at)
  }
  /** Uses the session, and waits until that is stored. */
  const use = async (cookie: string): Promise<void> => {
    const now = service.clock.now()
    expect(await isAlive(cookie)).toBe(true)
    await service.advance(3_000)
    await expect.poll(() => lastUse(cookie)).toBeGreaterThanOrEqual(now)
  }

  describe('a session', () => {
    test('starts with id and token, lives in a cookie of 256 bits, and acts as its operator', async () => {
      const answer = await signIn(service.url, anna)
      expect(answer.status).toBe(201)
      const port = new URL(service.url).port
      expect(answer.headers.get('set-cookie')).toMatch(
        new RegExp(`^jeton_session_${port}=jts_[\\w-]{49}; Path=/; HttpOnly; SameSite=Strict$`),
      )
      expect(answer.headers.get('cache-control')).toBe('no-store')
      const { id, token } = anna
      expect(Object.keys(answer.body).sort()).toEqual(
        ['address', 'created_at', 'expires_at', 'id', 'last_used_at', 'object', 'operator_id'].sort(),
      )
      const whoami = await byCookie(service.url, cookieOf(answer))('GET', '/whoami')
      expect(whoami.body).toEqual({
        object: 'whoami',
        operator: { id, name: 'viewer' },
        role: 'viewer',
        projects: null,
        address: '127.0.0.1',
        public_url: service.url,
        session: answer.body,
      })
      expect((await byPair(service.url, { id, token })('GET', '/whoami')).body).toMatchObject({
        operator: { id },
        session: null,
      })
    })

    test('starts with a code that works once, within 60 s, and is in the fragment of its link', async () => {
      const { code: once, url, object, expires_at } = await code(anna)
      expect([object, once]).toEqual(['login_code', expect.stringMatching(/^jtl_[\w-]{49}$/)])
      expect(url).toBe(`${service.url}/console/#code=${once}`)
      expect(Date.parse(expires_at) - service.clock.now()).toBe(MINUTE)
      expect((await signIn(service.url, { code: once })).body.operator_id).toBe(anna.id)
      expect((await signIn(service.url, { code: once })).status).toBe(401)
      const [early, late] = [(await code(anna)).code, (await code(anna)).code]
      await service.jump(MINUTE - 1)
      expect((await signIn(service.url, { code: early })).status).toBe(201)
      await service.jump(1)
      expect((await signIn(service.url, { code: late })).status).toBe(401)
    })

    test('ends an hour after its last use, and 12 hours after sign-in however much it is used', async () => {
      const [used, idle] = [await newSession(service.url, anna), await newSession(service.url, anna)]
      for (let minutes = 50; minutes < 12 * 60; minutes += 50) {
        await service.jump(50 * MINUTE)
        await use(used)
        if (minutes === 100) expect(await isAlive(idle)).toBe(false)
      }
      await service.jump(21 * MINUTE)
      expect(await isAlive(used)).toBe(false)
    }, 60_000)

    test('is not kept alive by polling', async () => {
      const cookie = await newSession(service.url, anna)
      for (let polls = 0; polls < 6; polls++) {
        expect(await isAlive(cookie, POLL)).toBe(true)
        await service.advance(3_000)
        await service.jump(10 * MINUTE - 3_000)
      }
      expect(await isAlive(cookie, POLL)).toBe(false)
      expect(await isAlive(cookie)).toBe(false)
    })

    test('writes its last use at most once a minute', async () => {
      const cookie = await newSession(service.url, anna)
      const first = await lastUse(cookie)
      await service.jump(MINUTE - 1)
      expect(await isAlive(cookie)).toBe(true)
      await service.jump(1)
      await use(cookie)
      // The use before would have been stored first.
      expect((await lastUse(cookie)) - first).toBe(MINUTE)
      await service.jump(30_000)
      expect(await isAlive(cookie)).toBe(true)
      await service.jump(30_000)
      await use(cookie)
      expect((await lastUse(cookie)) - first).toBe(2 * MINUTE + 3_000)
    })

    test('ends at sign-out, which removes the cookie and is in the audit log', async () => {
      const cookie = await newSession(service.url, anna)
      const manage = byCookie(service.url, cookie)
      const { id } = (await manage('GET', '/whoami')).body.session
      const ended = await manage('DELETE', '/sessions/current')
      expect([ended.status, ended.headers.get('set-cookie')]).toEqual([
        204,
        expect.stringMatching(/^jeton_session_\d+=; Path=\/; HttpOnly; SameSite=Strict; Max-Age=0$/),
      ])
      expect(await isAlive(cookie)).toBe(false)
      const log = (await service.manage('GET', `/audit-log?subject=${id}`)).body.data
      const about = log.map(({ action, via, actor }: Record<string, unknown>) => [action, via, actor])
      expect(about.sort()).toEqual([
        ['session.created', 'token', { type: 'operator', id: anna.id }],
        ['session.ended', 'session', { type: 'operator', id: anna.id }],
      ])
      expect((await byPair(service.url, anna)('DELETE', '/sessions/current')).status).toBe(404)
    })

    test('is listed and ended by its operator and by admins, and by nobody else', async () => {
      const [own, eve] = [await newOperator(service, 'editor'), await newOperator(service, 'editor')]
      const cookie = await newSession(service.url, own)
      const [asOwn, asEve] = [byPair(service.url, own), byPair(service.url, eve)]
      const { data } = (await asOwn('GET', '/sessions')).body
      expect(data.map((one: { operator_id: string }) => one.operator_id)).toEqual([own.id])
      expect((await asEve('GET', '/sessions')).body.data).toEqual([])
      const foreign = await asEve('GET', `/sessions?operator=${own.id}`)
      expect([foreign.status, foreign.body.key]).toEqual([403, 'insufficient_role'])
      expect((await asEve('DELETE', `/sessions/${data[0].id}`)).status).toBe(404)
      expect(await isAlive(cookie)).toBe(true)
      expect((await service.manage('GET', `/sessions?operator=${own.id}`)).body.data).toEqual(data)
      expect((await service.manage('DELETE', `/sessions/${data[0].id}`)).status).toBe(204)
      expect(await isAlive(cookie)).toBe(false)
      expect((await service.manage('DELETE', `/sessions/${data[0].id}`)).status).toBe(404)
    })

    test('the 21st session of an operator ends the one that was used longest ago', async () => {
      const crowd = await newOperator(service, 'viewer')
      const first = await newSession(service.url, crowd)
      await service.jump(1_000)
      const second = await newSession(service.url, crowd)
      await service.jump(MINUTE)
      await use(first)
      const others = await Promise.all(Array.from({ length: 19 }, () => newSession(service.url, crowd)))
      expect((await service.manage('GET', `/sessions?operator=${crowd.id}`)).body.total).toBe(20)
      expect([await isAlive(second), await isAlive(first)]).toEqual([false, true])
      expect(await isAlive(others[0]!)).toBe(true)
    })
  })

  test('a change is recorded with how it came in: by a session, by a token, or locally', async () => {
    const root = await newOperator(service, 'admin')
    const viaOf = async (name: string) => {
      const { body } = await service.manage('GET', '/projects?limit=100')
      const { id } = body.data.find((one: { name: string }) => one.name === name)
      return (await service.manage('GET', `/projects/${id}/audit-log`)).body.data[0].via
    }
    await (await bySession(service.url, root))('POST', '/projects', { name: 'By session' })
    await service.project('By token')
    expect([await viaOf('By session'), await viaOf('By token')]).toEqual(['session', 'token'])
    const { data } = (await service.manage('GET', `/audit-log?subject=${OPERATOR.id}`)).body
    expect(data.map(({ via }: { via: string }) => via)).toEqual(['local'])
  })

  test('neither cookies nor codes are in the store, and what is over is removed', async () => {
    const cookie = await newSession(service.url, anna)
    const { code: unused } = await code(anna)
    const stored = JSON.stringify(await everythingIn(service.service.db))
    for (const secret of [cookie.split('=')[1]!, unused]) expect(stored).not.toContain(secret.slice(4, 40))
    await service.jump(13 * HOUR)
    await service.advance(11_000)
    await expect
      .poll(async () => {
        const { sessions, login_codes } = await everythingIn(service.service.db)
        return [sessions!.length, login_codes!.length]
      })
      .toEqual([0, 0])
  })

  test('with a session the pages that are for operators open, and nothing outside of management does', async () => {
    const env = { ...(await engine.settings()), JETON_HOST: '0.0.0.0' }
    const open = await startTimedService(engine, { worker: false, env })
    const url = open.url.replace('0.0.0.0', '127.0.0.1')
    const cookie = await newSession(url, await newOperator(open, 'viewer'))
    const status = async (path: string, headers: object) =>
      (await send(url + path, { headers: headers as Record<string, string> })).status
    for (const path of ['/docs', '/docs/quickstart', '/openapi.json', '/metrics']) {
      expect(await status(path, {}), path).toBe(401)
      for (const how of [CONSOLE, { 'sec-fetch-site': 'none' }, { 'sec-fetch-site': 'same-origin' }])
        expect(await status(path, { cookie, ...how }), path).toBe(200)
      for (const how of [
        { accept: '*/*' },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
      ])
        expect(await status(path, { cookie, ...how }), path).toBe(403)
    }
    for (const path of ['/v1/vouchers/x', '/v1/customers', '/gateway/authorize?scope=vouchers'])
      expect(await status(path, { cookie, ...CONSOLE }), path).toBe(401)
    const key = await open.key((await open.project('Shop')).id)
    const pair = { 'x-app-id': key.appId, 'x-app-token': key.appToken }
    expect(await status('/gateway/authorize?scope=vouchers', { cookie, ...pair })).toBe(200)
    await open.stop()
  })
})
