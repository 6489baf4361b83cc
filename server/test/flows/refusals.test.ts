import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertRefusals } from '../../src/features/refusals/refusal.store.ts'
import { eachEngine } from '../engines.ts'
import { sendRaw } from '../raw-http.ts'
import { type Answer, OPERATOR, send } from '../service.ts'
import { everythingIn, startTimedService, type TimedService } from '../timed-service.ts'

const REFUSAL_FIELDS = [
  'address',
  'at',
  'command',
  'forwarded',
  'key',
  'key_id',
  'method',
  'object',
  'original_path',
  'path',
  'project_id',
  'remedy',
  'request_id',
  'required_scope',
  'socket_address',
  'status',
  'step',
  'steps',
]

const COMMANDS: Readonly<Record<string, string>> = {
  app_id_unknown: 'jeton key list',
  secret_wrong: 'jeton key regenerate <key>',
  secret_replaced: 'jeton key regenerate <key> --grace-seconds 86400',
  key_blocked: 'jeton key unblock <key>',
  project_limit: 'jeton token usage',
  management_id_unknown: 'jeton operator list',
  management_token_wrong: 'jeton operator list',
}

/** Everything of an answer that its receiver sees, but for what names this one request. */
const seen = ({ status, headers, text, body }: Answer): object => ({
  status,
  headers: [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id'),
  text: text.replace(body.request_id, ''),
})

eachEngine((engine) => {
  let service: TimedService
  beforeAll(async () => {
    service = await startTimedService(engine)
  })
  afterAll(() => service.stop())

  let made = 0
  const newProject = () => service.project(`Project ${++made}`)
  const newKey = async (fields?: Record<string, unknown>) => service.key((await newProject()).id, fields)
  const explain = ({ body }: Answer) => service.manage('GET', `/refusals/${body.request_id}`)
  const asOperator = (headers: Record<string, string>) =>
    send(`${service.url}/management/v1/projects`, { headers })
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

  describe('a stranger gets one and the same answer', () => {
    test('a missing, unknown, wrong, replaced or deleted key pair gets the same response', async () => {
      const [key, deleted, replaced] = [await newKey(), await newKey(), await newKey()]
      await service.manage('DELETE', deleted.path)
      await service.manage('POST', `${replaced.path}/regenerate`)
      const form = { grant_type: 'client_credentials', scope: 'vouchers' }
      const answers = await Promise.all([
        service.form('/v1/oauth/token', form),
        service.form('/v1/oauth/token', form, { appId: '', appToken: '' }),
        service.form('/v1/oauth/token', form, undefined, { 'x-app-id': key.appId }),
        service.issue({ appId: '00000000-0000-4000-8000-000000000000', appToken: key.appToken }),
        service.issue({ appId: "' or 1=1 --", appToken: key.appToken }),
        service.issue({ appId: key.appId, appToken: deleted.appToken }),
        service.issue({ appId: key.appId, appToken: key.appToken.slice(0, -1) }),
        service.issue(deleted),
        service.issue({ appId: deleted.appId, appToken: 'wrong' }),
        service.issue(replaced),
      ])
      expect(answers[0]!.status).toBe(401)
      for (const answer of answers) expect(seen(answer)).toEqual(seen(answers[0]!))
    })

    test('empty, malformed, unknown, wrong or deleted Basic credentials get the same response', async () => {
      const [key, deleted] = [await newKey(), await newKey()]
      await service.manage('DELETE', deleted.path)
      const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
      const headers = [basic(''), basic(':'), basic('nobody'), { authorization: 'Basic !!!' }]
      headers.push(
        basic(`nobody:${key.appToken}`),
        basic(`${key.appId}:wrong`),
        basic(`${deleted.appId}:${deleted.appToken}`),
      )
      const form = { grant_type: 'client_credentials', scope: 'vouchers' }
      const answers = await Promise.all(
        headers.map((one) => service.form('/v1/oauth/token', form, undefined, one)),
      )
      expect(answers[0]!.status).toBe(401)
      for (const answer of answers) expect(seen(answer)).toEqual(seen(answers[0]!))
    })

    test('a malformed, unknown, expired or revoked bearer token, or one of a blocked or deleted key, gets the same response', async () => {
      const own = await startTimedService(engine)
      const project = await own.project('Bearers')
      const keys = [
        await own.key(project.id),
        await own.key(project.id),
        await own.key(project.id),
        await own.key(project.id),
      ]
      const tokens = await Promise.all(
        keys.map(async (key) => (await own.issue(key, 'api')).body.access_token as string),
      )
      const expired = (await own.issue(keys[0]!, 'api')).body.access_token
      await own.form('/v1/oauth/revoke', { token: tokens[0]! }, keys[0])
      await own.manage('POST', `${keys[1]!.path}/block`)
      await own.manage('DELETE', keys[2]!.path)
      const ask = (token: string) => own.form('/v1/oauth/introspect', { token }, undefined, bearer(token))
      expect((await ask(tokens[3]!)).body.active).toBe(true)
      await own.jump(900_000)
      const bad = [
        'y',
        'x',
        'jtn_',
        tokens[3]!.slice(0, -1),
        `${tokens[3]}x`,
        tokens[3]!.replace(/^jtn_/, 'jtn_A'),
        expired,
        ...tokens,
      ]
      const answers = await Promise.all(bad.map(ask))
      expect(answers[1]!.status).toBe(401)
      expect(answers[1]!.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
      for (const [i, answer] of answers.entries()) expect(seen(answer), String(i)).toEqual(seen(answers[1]!))
      await own.stop()
    })

    test('missing, unknown or wrong management credentials get the same response', async () => {
      const answers = await Promise.all([
        asOperator({}),
        asOperator({ 'x-management-id': OPERATOR.id }),
        asOperator({ 'x-management-token': OPERATOR.token }),
        asOperator({ 'x-management-id': 'nobody', 'x-management-token': OPERATOR.token }),
        asOperator({ 'x-management-id': OPERATOR.id, 'x-management-token': OPERATOR.token.slice(1) }),
        asOperator({ 'x-management-id': OPERATOR.id.toUpperCase(), 'x-management-token': OPERATOR.token }),
        asOperator({ 'x-management-id': 'x'.repeat(5_000), 'x-management-token': OPERATOR.token }),
      ])
      expect(answers[0]!.status).toBe(401)
      expect(answers[0]!.headers.get('www-authenticate')).toBe('Bearer')
      for (const answer of answers) expect(seen(answer)).toEqual(seen(answers[0]!))
    })
  })

  describe('an operator can look up why', () => {
    test('an operator finds a refusal by request id, with its steps and the fix', async () => {
      const project = await newProject()
      const key = await service.key(project.id, { name: 'pos' })
      const blocked = await service.key(project.id)
      const elsewhere = await service.key(project.id, { ip_whitelist: ['10.0.0.0/8'] })
      const deleted = await service.key(project.id)
      const replaced = await service.key(project.id)
      const full = await service.key(project.id, { token_limit: 1 })
      const narrow = (await service.issue(key, 'vouchers')).body.access_token
      await service.issue(full)
      await service.manage('POST', `${blocked.path}/block`)
      await service.manage('DELETE', deleted.path)
      await service.manage('POST', `${replaced.path}/regenerate`)
      const ask = (token: string, asked = token) =>
        service.form('/v1/oauth/introspect', { token: asked }, undefined, bearer(token))
      const cases: [string, Answer, number, string | null][] = [
        ['credential_missing', await service.form('/v1/oauth/token', {}), 401, null],
        ['app_id_unknown', await service.issue({ appId: 'nobody', appToken: 'x' }), 401, null],
        ['key_deleted', await service.issue(deleted), 401, deleted.id],
        ['secret_wrong', await service.issue({ appId: key.appId, appToken: 'x' }), 401, key.id],
        ['secret_replaced', await service.issue(replaced), 401, replaced.id],
        ['key_blocked', await service.issue(blocked), 401, blocked.id],
        ['address_not_allowed', await service.issue(elsewhere), 403, elsewhere.id],
        ['key_limit', await service.issue(full), 429, full.id],
        ['bearer_malformed', await ask('jtn_x'), 401, null],
        ['scope_insufficient', await ask(narrow, 'jtn_y'), 403, key.id],
        ['management_credential_missing', await asOperator({}), 401, null],
        [
          'management_id_unknown',
          await asOperator({ 'x-management-id': 'x', 'x-management-token': 'x' }),
          401,
          null,
        ],
        [
          'management_token_wrong',
          await asOperator({ 'x-management-id': OPERATOR.id, 'x-management-token': 'x' }),
          401,
          null,
        ],
      ]
      for (const [step, answer, status, keyId] of cases) {
        expect(answer.status, step).toBe(status)
        const { status: found, body, text } = await explain(answer)
        expect(found, step).toBe(200)
        expect(Object.keys(body).sort()).toEqual(REFUSAL_FIELDS)
        expect(body).toMatchObject({
          object: 'refusal',
          request_id: answer.body.request_id,
          at: new Date(service.clock.now()).toISOString(),
          status,
          key: answer.body.key,
          step,
          project_id: keyId && project.id,
          key_id: keyId,
          address: '127.0.0.1',
          socket_address: '127.0.0.1',
          forwarded: null,
        })
        expect(body.steps.at(-1)).toMatchObject({ step, passed: false })
        expect(
          body.steps.slice(0, -1).every((one: { passed: boolean }) => one.passed),
          step,
        ).toBe(true)
        expect(body.remedy).toMatch(/\w{4}/)
        expect(body.command).toBe(COMMANDS[step]?.replace('<key>', keyId!) ?? null)
        for (const one of [key, blocked, deleted, replaced]) expect(text).not.toContain(one.appToken)
      }
    })

    test('the refusal of an inactive token names its key', async () => {
      const key = await newKey()
      const token = (await service.issue(key)).body.access_token
      await service.manage('POST', `${key.path}/block`)
      const answer = await service.form('/v1/oauth/introspect', { token }, undefined, bearer(token))
      expect((await explain(answer)).body).toMatchObject({
        status: 401,
        step: 'bearer_inactive',
        key_id: key.id,
      })
    })

    test('the refusal of a token from another address names the address', async () => {
      const key = await newKey()
      const token = (await service.issue(key, 'api')).body.access_token
      await service.manage('PATCH', key.path, { ip_whitelist: ['10.0.0.1'] })
      const answer = await service.form('/v1/oauth/introspect', { token }, undefined, bearer(token))
      expect(answer.status).toBe(403)
      expect((await explain(answer)).body).toMatchObject({
        step: 'bearer_address_not_allowed',
        key_id: key.id,
      })
    })

    test('a call that lacks a scope is recorded with that scope and, through the gateway, with its own path', async () => {
      const key = await newKey({ permissions: ['vouchers'] })
      const token: string = (await service.issue(key, 'vouchers')).body.access_token
      const ask = async (path: string, headers: Record<string, string> = {}) => {
        const { status, body } = await send(`${service.url}${path}`, {
          headers: { ...bearer(token), ...headers },
        })
        expect(status, path).toBe(403)
        return (await service.manage('GET', `/refusals/${body.request_id}`)).body
      }
      const original = '/v1/customers/cust_1'
      for (const refusal of [
        await ask('/gateway/authorize', { 'x-original-uri': `${original}?page=2` }),
        await ask('/gateway/authorize', { 'x-forwarded-uri': original }),
        await ask(`/gateway/authorize${original}`),
      ]) {
        expect(refusal).toMatchObject({
          original_path: original,
          required_scope: 'customers',
          key_id: key.id,
        })
        expect(refusal.steps.at(-1).says).toContain('"customers"')
        expect(refusal.remedy).toContain('Request a token with "customers"')
      }
      expect(await ask('/gateway/authorize?scope=orders')).toMatchObject({
        original_path: null,
        required_scope: 'orders',
      })
      expect(await ask('/v1/customers', { 'x-original-uri': '/v1/vouchers' })).toMatchObject({
        path: '/v1/customers',
        original_path: null,
        required_scope: 'customers',
      })
      const masked = await ask('/gateway/authorize', { 'x-original-uri': `/v1/customers/${token}` })
      expect(masked.original_path).toBe('/v1/customers/jtn_•••')
    })

    test('a refused token request says whether the key or the project had reached its limit', async () => {
      const project = await newProject()
      const [small, large] = [
        await service.key(project.id, { token_limit: 1 }),
        await service.key(project.id, { name: 'large' }),
      ]
      await service.issue(small)
      expect((await explain(await service.issue(small))).body).toMatchObject({
        status: 429,
        step: 'key_limit',
        key_id: small.id,
      })
      for (let i = 0; i < 999; i += 111)
        await Promise.all(Array.from({ length: 111 }, () => service.issue(large)))
      const { body } = await explain(await service.issue(large))
      expect(body).toMatchObject({ status: 429, step: 'project_limit', key_id: large.id })
      expect(body.steps.at(-1).says).toBe('the project had reached its limit of active tokens')
    })

    test('a recorded refusal masks a token in its path, however it is percent-encoded', async () => {
      const key = await newKey()
      const token: string = (await service.issue(key, 'api')).body.access_token
      const spellings = [token, `%6a${token.slice(1)}`, `%256atn%5F${token.slice(4)}`]
      for (const spelled of spellings) {
        const answer = await sendRaw(service.url, { path: `/v1/vouchers/${spelled}` })
        expect(answer.status).toBe(401)
        const { body } = await service.manage('GET', `/refusals/${answer.body.request_id}`)
        expect(body.path).toBe('/v1/vouchers/jtn_•••')
      }
    })

    test('refusals are listed in the project of the key only, newest first, with a cursor', async () => {
      const project = await newProject()
      const key = await service.key(project.id)
      const ids: string[] = []
      for (let i = 0; i < 7; i++) {
        ids.unshift((await service.issue({ appId: key.appId, appToken: `wrong ${i}` })).body.request_id)
        await service.advance(1)
      }
      const path = `/projects/${project.id}/refusals`
      const walked: string[] = []
      let cursor = ''
      do {
        const { body }: Answer = await service.manage(
          'GET',
          `${path}?limit=3${cursor && `&cursor=${cursor}`}`,
        )
        expect(body.total).toBe(7)
        walked.push(...body.data.map((one: { request_id: string }) => one.request_id))
        cursor = body.next_cursor
      } while (cursor)
      expect(walked).toEqual(ids)
      expect((await service.manage('GET', `/projects/${(await newProject()).id}/refusals`)).body.total).toBe(
        0,
      )
    })

    test('only refusals are recorded, not invalid or successful requests', async () => {
      const key = await newKey()
      const answers = [
        await service.issue(key, 'nonsense'),
        await service.form('/v1/oauth/token', { grant_type: 'password' }, key),
        await service.manage('GET', '/projects/proj_unknown'),
        await service.manage('PUT', '/projects'),
        await send(`${service.url}/nowhere`),
      ]
      for (const answer of answers) {
        const found = await explain(answer)
        expect([found.status, found.body.resource_type], String(answer.status)).toEqual([404, 'refusal'])
      }
      const ok = await service.issue(key)
      const id = ok.headers.get('x-request-id')
      expect((await service.manage('GET', `/refusals/${id}`)).status).toBe(404)
    })

    test('a recorded refusal contains no credential, even if the caller sent it in the path', async () => {
      const key = await newKey()
      const token = (await service.issue(key)).body.access_token
      const operator = (await service.manage('POST', '/operators', { name: 'leaky' })).body
      const secrets = [key.appToken, token, operator.token]
      for (const secret of secrets) {
        const answer = await send(`${service.url}/management/v1/projects/${secret}/tokens?token=${secret}`)
        expect((await explain(answer)).body.path).toMatch(/^\/management\/v1\/projects\/.*\/tokens$/)
      }
      const stored = JSON.stringify(await everythingIn(service.service.db))
      for (const secret of secrets) expect(stored.includes(secret.slice(4))).toBe(false)
    })

    test('refusals are stored for 24 hours', async () => {
      const own = await startTimedService(engine)
      const refused = await own.issue({ appId: 'x', appToken: 'y' })
      const path = `/refusals/${refused.body.request_id}`
      await own.jump(24 * 3_600_000 - 60_000)
      await own.advance(11_000)
      expect((await own.manage('GET', path)).status).toBe(200)
      await own.jump(60_000)
      const afterTheJanitor = async () => {
        await own.advance(10_000)
        return (await own.manage('GET', path)).status
      }
      await expect.poll(afterTheJanitor).toBe(404)
      await own.stop()
    })

    test('the latest 10,000 refusals of a project are stored', async () => {
      const key = await newKey()
      const projectId = key.path.split('/')[2]!
      const common = {
        project_id: projectId,
        method: 'GET',
        path: '/',
        status: 401,
        key: 'unauthorized',
        step: 'secret_wrong',
        key_id: key.id,
      }
      const rows = Array.from({ length: 10_010 }, (_, i) => ({
        ...common,
        request_id: `v-${made}-${i}`,
        at: service.clock.now() - 20_000 + i,
        address: null,
        socket_address: '',
        forwarded: null,
        original_path: null,
        required_scope: null,
      }))
      await service.service.db.transaction(async (tx) => {
        for (let i = 0; i < rows.length; i += 500) await insertRefusals(tx, rows.slice(i, i + 500))
      })
      const latest = await service.issue({ appId: key.appId, appToken: 'wrong' })
      const { body } = await service.manage('GET', `/projects/${projectId}/refusals`)
      expect([body.total, body.data[0].request_id]).toEqual([10_000, latest.body.request_id])
      expect((await service.manage('GET', `/refusals/${rows[0]!.request_id}`)).status).toBe(404)
    })
  })

  test('a flood of one kind of refusal does not displace other refusals', async () => {
    const key = await newKey({ token_limit: 1 })
    const projectId = key.path.split('/')[2]!
    await service.issue(key)
    const other = await service.issue({ appId: key.appId, appToken: 'wrong' })
    for (let i = 0; i < 15; i++) await Promise.all(Array.from({ length: 20 }, () => service.issue(key)))
    const { body } = await service.manage('GET', `/projects/${projectId}/refusals`)
    expect(body.total).toBe(101)
    expect((await service.manage('GET', `/refusals/${other.body.request_id}`)).status).toBe(200)
  })

  describe('wrong credentials are throttled', () => {
    test('wrong secrets are throttled after 20 per minute for one key and address, with Retry-After, and the right secret is always accepted', async () => {
      const own = await startTimedService(engine)
      const project = await own.project('Throttled')
      const [key, other] = [await own.key(project.id), await own.key(project.id)]
      const wrong = () => own.issue({ appId: key.appId, appToken: 'wrong' })
      for (let i = 0; i < 20; i++) expect((await wrong()).status).toBe(401)
      await own.advance(15_000)
      const refused = await wrong()
      expect([refused.status, refused.body.key, refused.body.error]).toEqual([
        429,
        'too_many_attempts',
        'temporarily_unavailable',
      ])
      expect(refused.headers.get('retry-after')).toBe('45')
      expect((await own.manage('GET', `/refusals/${refused.body.request_id}`)).body).toMatchObject({
        status: 429,
        step: 'secret_wrong',
        key_id: key.id,
      })
      expect((await own.issue(key)).status).toBe(200)
      expect((await own.issue({ appId: other.appId, appToken: 'wrong' })).status).toBe(401)
      await own.advance(45_000)
      expect((await wrong()).status).toBe(401)
      await own.stop()
    })

    test('wrong operator tokens are throttled after 20 per minute, and the right token is always accepted', async () => {
      const own = await startTimedService(engine)
      const ask = (token: string) =>
        send(`${own.url}/management/v1/projects`, {
          headers: { 'x-management-id': OPERATOR.id, 'x-management-token': token },
        })
      for (let i = 0; i < 20; i++) expect((await ask('wrong')).status).toBe(401)
      const refused = await ask('wrong')
      expect([refused.status, refused.body.key, refused.headers.get('retry-after')]).toEqual([
        429,
        'too_many_attempts',
        '60',
      ])
      expect((await ask(OPERATOR.token)).status).toBe(200)
      await own.stop()
    })

    test('wrong credentials are throttled after 200 per minute from one address, and other addresses are not affected', async () => {
      const own = await startTimedService(engine, { env: { JETON_TRUSTED_PROXIES: '127.0.0.1' } })
      const key = await own.key((await own.project('Guessed')).id)
      const from = (address: string) => ({ 'x-forwarded-for': address })
      const guess = (n: number, address: string) =>
        own.issue({ appId: `guess-${n}`, appToken: 'wrong' }, 'vouchers', from(address))
      const statuses: number[] = []
      for (let n = 0; n < 200; n += 20)
        statuses.push(
          ...(await Promise.all(
            Array.from({ length: 20 }, async (_, i) => (await guess(n + i, '10.9.9.9')).status),
          )),
        )
      expect(statuses.every((status) => status === 401)).toBe(true)
      expect((await guess(200, '10.9.9.9')).status).toBe(429)
      expect((await guess(201, '10.9.9.10')).status).toBe(401)
      expect((await own.issue(key, 'vouchers', from('10.9.9.9'))).status).toBe(200)
      await own.advance(60_000)
      expect((await guess(202, '10.9.9.9')).status).toBe(401)
      await own.stop()
    })

    test('wrong credentials over IPv6 are throttled per /64, since one host has all of it', async () => {
      const own = await startTimedService(engine, { env: { JETON_TRUSTED_PROXIES: '127.0.0.1' } })
      const wrong = (address: string) =>
        own.issue({ appId: 'one', appToken: 'wrong' }, 'vouchers', { 'x-forwarded-for': address })
      for (let i = 1; i <= 20; i++) expect((await wrong(`2001:db8:0:1::${i.toString(16)}`)).status).toBe(401)
      expect((await wrong('2001:db8:0:1:ffff::1')).status).toBe(429)
      expect((await wrong('2001:db8:0:2::1')).status).toBe(401)
      await own.stop()
    })
  })
})
