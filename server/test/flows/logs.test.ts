import { sql } from 'kysely'
import { afterEach, describe, expect, test } from 'vitest'
import { capturedLog } from '../captured-log.ts'
import { eachEngine } from '../engines.ts'
import { byCookie, byPair, cookieOf, signIn } from '../operators.ts'
import { sendBytes, sendRaw } from '../raw-http.ts'
import { OPERATOR, send, startService, type TestService } from '../service.ts'
import { TestClock } from '../test-clock.ts'

const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`

/** Sends every kind of secret in every place of a request, right and wrong. Returns the secrets. */
async function useSecretsEverywhere(service: TestService): Promise<string[]> {
  const wrong = {
    token: 'jta_wrong-secret-of-a-stranger',
    bearer: 'jtn_wrong-token-of-a-stranger',
    management: 'jtm_wrong-token-of-an-operator',
    cookie: 'jts_wrong-cookie-of-a-browser-somewhere',
    code: 'jtl_wrong-code-of-a-browser-somewhere',
  }
  const project = await service.project('Logged')
  const key = await service.key(project.id)
  const operator = (await service.manage('POST', '/operators', { name: 'Ada' })).body
  const regenerated = (await service.manage('POST', `${key.path}/regenerate`, { grace_seconds: 60 })).body
    .app_token
  const access = (await service.issue(key)).body.access_token
  const form = { grant_type: 'client_credentials', scope: 'vouchers' }

  await service.form('/v1/oauth/token', { ...form, client_id: key.appId, client_secret: key.appToken })
  await service.form('/v1/oauth/token', { ...form, client_id: key.appId, client_secret: wrong.token })
  await service.form('/v1/oauth/token', form, undefined, { authorization: basic(key.appId, regenerated) })
  await service.form('/v1/oauth/token', form, undefined, { authorization: basic(key.appId, wrong.token) })
  await service.form('/v1/oauth/token', { ...form, scope: key.appToken }, key)
  await service.form('/v1/oauth/token', { ...form, grant_type: key.appToken }, key)
  await service.form('/v1/oauth/token', { ...form, [key.appToken]: 'x' }, key)
  await service.issue({ appId: key.appToken, appToken: key.appId })
  await service.issue({ appId: key.appId, appToken: wrong.token })
  for (const token of [access, wrong.bearer]) {
    await service.introspect(key, token)
    await service.form('/oauth/introspect', { token }, undefined, { authorization: `Bearer ${token}` })
    await send(`${service.url}/gateway/authorize?scope=vouchers`, {
      headers: { authorization: `Bearer ${token}` },
    })
  }
  for (const token of [operator.token, wrong.management, OPERATOR.token])
    await send(`${service.url}/management/v1/projects`, {
      headers: { 'x-management-id': operator.id, 'x-management-token': token },
    })
  const { code } = (await byPair(service.url, operator)('POST', '/login-codes')).body
  const cookie = cookieOf(await signIn(service.url, { code }))
  const [cookieName, cookieValue = ''] = cookie.split('=')
  for (const value of [cookieValue, wrong.cookie, code]) {
    await byCookie(service.url, `${cookieName}=${value}`)('GET', '/whoami')
    await byCookie(service.url, `${cookieName}=${value}`, {})('POST', '/projects', { name: value })
    for (const body of [{ code: value }, { id: value, token: value }, { [value]: value }])
      await signIn(service.url, body)
  }
  const ofBrowsers = [code, cookieValue]
  const secrets = [key.appToken, regenerated, operator.token, access, ...ofBrowsers, ...Object.values(wrong)]
  for (const secret of secrets) {
    for (const path of [
      `/${secret}`,
      `/v1/oauth/${secret}`,
      `/management/v1/projects/${secret}`,
      `/v1/oauth/token?client_secret=${secret}`,
    ]) {
      await send(service.url + path)
      await sendRaw(service.url, {
        path,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"token":"${secret}`,
      })
    }
    for (const spelled of spellingsOf(secret)) {
      await sendRaw(service.url, { path: `/${spelled}` })
      await sendRaw(service.url, { path: `/v1/vouchers/${spelled}` })
    }
    await sendRaw(service.url, { path: `/%zz/${secret}` })
    await sendBytes(service.url, `${secret}\r\n\r\n`)
    await service.manage('GET', `/projects/${secret}?name=${secret}`)
    await service.manage('POST', '/projects', { name: secret, [secret]: secret })
  }
  await service.form('/v1/oauth/revoke', { token: access }, key)
  return [
    ...secrets.flatMap((one) => [one, ...spellingsOf(one)]),
    OPERATOR.token,
    basic(key.appId, regenerated).slice(6),
  ]
}

/** Encodings of the secret that a server or a reader of the log would decode. */
const spellingsOf = (secret: string): string[] => {
  const escaped = (text: string) => text.replace(/./gs, (char) => `%${char.charCodeAt(0).toString(16)}`)
  return [
    escaped(secret[0]!) + secret.slice(1),
    escaped(secret),
    `%25${escaped(secret[0]!).slice(1)}${secret.slice(1)}`,
  ]
}

eachEngine((engine) => {
  const running: TestService[] = []
  afterEach(async () => void (await Promise.all(running.splice(0).map((service) => service.stop()))))
  const start = async (options: { level: string; readable?: boolean }) => {
    const captured = capturedLog(options)
    const service = await startService(await engine.settings(), {
      clock: new TestClock(Date.now()),
      log: captured.log,
    })
    running.push(service)
    return { service, captured }
  }

  describe.each([
    ['as JSON', false],
    ['for people', true],
  ])('the log %s, at its most verbose', (_, readable) => {
    test('the log contains no secret, wherever the caller sent it', async () => {
      const { service, captured } = await start({ level: 'trace', readable })
      const secrets = await useSecretsEverywhere(service)
      await service.stop()
      const text = captured.text()
      // A log that says nothing would hold no secret either.
      expect(text.split('\n').length).toBeGreaterThan(80)
      expect(text).toContain('/v1/oauth/token')
      for (const secret of secrets) {
        expect(text.includes(secret), secret).toBe(false)
        expect(text.includes(secret.slice(8, 30)), `part of ${secret}`).toBe(false)
      }
      expect(text.match(/"err"|"stack"|\bbug\b/)).toBeNull()
    })

    test('the log reports an outage of the store without any secret', async () => {
      const { service, captured } = await start({ level: 'trace', readable })
      const key = await service.key((await service.project('Outage')).id)
      await service.service.db.close()
      await service.issue({ appId: key.appId, appToken: 'jta_wrong-secret-of-a-stranger' })
      await service.issue(key)
      const text = captured.text()
      expect(text).toMatch(/503/)
      for (const secret of [key.appToken, 'wrong-secret', OPERATOR.token])
        expect(text.includes(secret), secret).toBe(false)
    })
  })

  test('a request has one JSON log line at level debug, with the id of its response, and none at info', async () => {
    const [debug, info] = [await start({ level: 'debug' }), await start({ level: 'info' })]
    const answer = await send(`${debug.service.url}/health/live?secret=1`)
    await send(`${info.service.url}/health/live`)
    await debug.service.stop()
    await info.service.stop()
    const lines = debug.captured
      .text()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const own = lines.filter(({ request_id }) => request_id === answer.headers.get('x-request-id'))
    expect(own).toEqual([
      {
        level: 'debug',
        time: expect.any(Number),
        method: 'GET',
        url: '/health/live',
        status: 200,
        ms: expect.any(Number),
        request_id: expect.any(String),
        address: '127.0.0.1',
        msg: 'request',
      },
    ])
    expect(info.captured.text()).toBe('')
  })

  test('a bug is logged with its cause under the request id, and the caller learns only the id', async () => {
    const { service, captured } = await start({ level: 'error' })
    const { db } = service.service
    await db.transaction((tx) => sql`alter table projects rename to mislaid`.execute(tx.write()))
    const { status, text, body } = await service.manage('GET', '/projects')
    expect([status, body.key]).toEqual([500, 'internal_error'])
    expect(text).not.toMatch(/mislaid|projects"|select|\.ts|relation|table/i)
    const line = JSON.parse(captured.text().split('\n')[0]!)
    expect(line).toMatchObject({
      level: 'error',
      request_id: body.request_id,
      msg: 'bug',
      err: { stack: expect.stringContaining('projects') },
    })
  })
})
