import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MIGRATIONS } from '../../src/app/migrations/index.ts'
import { VERSION } from '../../src/app/version.ts'
import { ensureConfiguredOperator } from '../../src/features/operators/index.ts'
import { migrate } from '../../src/platform/database/index.ts'
import { randomBytes } from '../../src/platform/secrets.ts'
import { eachEngine } from '../engines.ts'
import { type Answer, OPERATOR, type Pair, send, startService } from '../service.ts'
import { TestClock } from '../test-clock.ts'
import { everythingIn, startTimedService, type TimedService } from '../timed-service.ts'

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const PROJECT_FIELDS = ['active_tokens', 'created_at', 'id', 'name', 'object', 'token_limit', 'updated_at']
const KEY_FIELDS = [
  'active_tokens',
  'app_id',
  'app_token_last4',
  'client_id',
  'created_at',
  'id',
  'ip_whitelist',
  'last_used_at',
  'last_used_from',
  'name',
  'object',
  'permissions',
  'previous_secret',
  'project_id',
  'recent_addresses',
  'regenerated_at',
  'state',
  'token_limit',
  'updated_at',
  'usage_24h',
]
const OPERATOR_FIELDS = [
  ...['created_at', 'id', 'last_used_at', 'name', 'object', 'projects', 'role', 'token_last4'],
]

const fieldsOf = (body: object) => Object.keys(body).sort()
const namesOf = ({ body }: Answer): string[] => body.data.map((one: { name: string }) => one.name)
const idsOf = ({ body }: Answer): string[] => body.data.map((one: { id: string }) => one.id)

eachEngine((engine) => {
  let service: TimedService
  beforeAll(async () => {
    service = await startTimedService(engine)
  })
  afterAll(() => service.stop())

  let made = 0
  const newProject = () => service.project(`Project ${++made}`)
  const newKey = async (fields?: Record<string, unknown>) => service.key((await newProject()).id, fields)
  const isActive = async (pair: Pair, token: string) => (await service.introspect(pair, token)).body.active
  const tokenOf = async (pair: Pair): Promise<string> => (await service.issue(pair)).body.access_token
  const asOperator = (id: string, token: string, path = '/operators') =>
    send(`${service.url}/management/v1${path}`, {
      headers: { 'x-management-id': id, 'x-management-token': token },
    })

  describe('a project', () => {
    test('a project has the documented fields, and reads as it was returned at its creation', async () => {
      const created = await service.manage('POST', '/projects', { name: 'Club Europe' })
      expect(created.status).toBe(201)
      expect(fieldsOf(created.body)).toEqual(PROJECT_FIELDS)
      expect(created.body).toMatchObject({
        object: 'project',
        name: 'Club Europe',
        token_limit: 1000,
        active_tokens: 0,
      })
      expect(created.body.id).toMatch(/^proj_\w{16}$/)
      expect(created.body.created_at).toMatch(ISO)
      expect((await service.manage('GET', `/projects/${created.body.id}`)).body).toEqual(created.body)
      expect((await service.manage('GET', '/projects?name=Club%20Europe')).body.data).toEqual([created.body])
    })

    test('a project shows the number of its active tokens', async () => {
      const project = await newProject()
      const key = await service.key(project.id)
      await tokenOf(key)
      const dead = await tokenOf(key)
      await service.form('/v1/oauth/token/revoke', { token: dead }, key)
      expect((await service.manage('GET', `/projects/${project.id}`)).body.active_tokens).toBe(1)
    })

    test('a renamed project keeps its id and creation time', async () => {
      const project = await newProject()
      await service.advance(1_000)
      const renamed = await service.manage('PATCH', `/projects/${project.id}`, { name: 'Émile & Søn 🎁' })
      expect(renamed.status).toBe(200)
      expect(renamed.body).toEqual({
        ...project,
        name: 'Émile & Søn 🎁',
        updated_at: renamed.body.updated_at,
      })
      expect(Date.parse(renamed.body.updated_at)).toBeGreaterThan(Date.parse(renamed.body.created_at))
      expect((await service.manage('GET', `/projects/${project.id}`)).body).toEqual(renamed.body)
    })

    test('concurrent requests never create two projects with one name', async () => {
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => service.manage('POST', '/projects', { name: 'Wanted' })),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
      expect(answers.find(({ status }) => status === 409)!.body).toMatchObject({ key: 'duplicate_found' })
      const other = await newProject()
      const taken = await service.manage('PATCH', `/projects/${other.id}`, { name: 'Wanted' })
      expect([taken.status, taken.body.key]).toEqual([409, 'duplicate_found'])
      expect((await service.manage('GET', `/projects/${other.id}`)).body.name).toBe(other.name)
      expect((await service.manage('GET', '/projects?name=Wanted')).body.total).toBe(1)
    })

    test('a project is deleted only with its exact name in the body', async () => {
      const project = await newProject()
      const path = `/projects/${project.id}`
      for (const body of [
        undefined,
        {},
        { name: project.name.toLowerCase() },
        { name: `${project.name} ` },
      ]) {
        const refused = await service.manage('DELETE', path, body)
        expect([refused.status, refused.body.details ?? ''], JSON.stringify(body)).toEqual([
          400,
          expect.stringContaining('name'),
        ])
      }
      expect((await service.manage('GET', path)).status).toBe(200)
    })

    test('deleting a project ends its keys and tokens at once and frees its name', async () => {
      const project = await newProject()
      const key = await service.key(project.id)
      const token = await tokenOf(key)
      expect(await isActive(key, token)).toBe(true)
      const gone = await service.manage('DELETE', `/projects/${project.id}`, { name: project.name })
      expect([gone.status, gone.text]).toEqual([204, ''])

      expect((await service.issue(key)).status).toBe(401)
      expect((await service.introspect(key, token)).status).toBe(401)
      const asked = await service.form('/v1/oauth/introspect', { token }, undefined, {
        authorization: `Bearer ${token}`,
      })
      expect(asked.status).toBe(401)
      for (const path of ['', '/api-keys', `/api-keys/${key.id}`, '/tokens', '/token-usage', '/refusals'])
        expect((await service.manage('GET', `/projects/${project.id}${path}`)).status, path).toBe(404)
      expect(
        (await service.manage('POST', `/projects/${project.id}/api-keys`, { name: 'late' })).status,
      ).toBe(404)
      expect((await service.manage('DELETE', `/projects/${project.id}`, { name: project.name })).status).toBe(
        404,
      )

      const again = await service.project(project.name)
      expect(again.id).not.toBe(project.id)
      expect(
        (await service.manage('GET', `/projects?name=${encodeURIComponent(project.name)}`)).body.total,
      ).toBe(1)
    })

    test('only the audit log of a deleted project remains after every process learned of the deletion', async () => {
      const own = await startTimedService(engine)
      const project = await own.project('Short')
      const key = await own.key(project.id)
      await own.issue(key)
      await own.issue({ ...key, appToken: 'wrong' })
      await own.manage('DELETE', `/projects/${project.id}`, { name: 'Short' })
      await own.jump(16 * 60_000)
      await expect
        .poll(async () => {
          await own.advance(10_000)
          const { audit_log, ...rest } = await everythingIn(own.service.db)
          return [
            audit_log!.some((row) => row.includes(project.id)),
            JSON.stringify(rest).includes(project.id),
          ]
        })
        .toEqual([true, false])
      expect((await own.manage('GET', `/projects/${project.id}/audit-log`)).body.total).toBe(3)
      await own.stop()
    })
  })

  describe('lists', () => {
    test('management lists are newest first, with a total, and their pages show each entry once', async () => {
      const project = await newProject()
      const names: string[] = []
      for (let i = 0; i < 12; i++) {
        await service.key(project.id, { name: `key ${i}` })
        await service.advance(1)
        names.unshift(`key ${i}`)
      }
      const page = (query: string) => service.manage('GET', `/projects/${project.id}/api-keys${query}`)
      const whole = await page('')
      expect(fieldsOf(whole.body)).toEqual(['data', 'data_ref', 'next_cursor', 'object', 'total'])
      expect(whole.body).toMatchObject({ object: 'list', data_ref: 'data', total: 12, next_cursor: null })
      expect(namesOf(whole)).toEqual(names.slice(0, 10))
      const pages = await Promise.all([1, 2, 3, 4].map((n) => page(`?limit=5&page=${n}`)))
      expect(pages.map((one) => one.body.total)).toEqual([12, 12, 12, 12])
      expect(pages.map(namesOf)).toEqual([names.slice(0, 5), names.slice(5, 10), names.slice(10), []])
      expect(namesOf(await page('?limit=100'))).toEqual(names)
      expect(namesOf(await page('?name=key%203'))).toEqual(['key 3'])
    })

    test('management lists of a project contain nothing of another', async () => {
      const [one, other] = [await newProject(), await newProject()]
      const key = await service.key(one.id)
      await tokenOf(key)
      for (const path of ['api-keys', 'tokens']) {
        expect((await service.manage('GET', `/projects/${one.id}/${path}`)).body.total, path).toBe(1)
        expect((await service.manage('GET', `/projects/${other.id}/${path}`)).body, path).toMatchObject({
          total: 0,
          data: [],
        })
      }
    })
  })

  describe('an API key', () => {
    test('an API key has the documented fields and defaults, and only the response to its creation has the secret', async () => {
      const project = await newProject()
      const { status, body } = await service.manage('POST', `/projects/${project.id}/api-keys`, {
        name: 'shop',
      })
      expect(status).toBe(201)
      const { app_token, ...rest } = body
      expect(fieldsOf(rest)).toEqual(KEY_FIELDS)
      expect(rest).toMatchObject({
        object: 'api_key',
        project_id: project.id,
        name: 'shop',
        permissions: ['api'],
        ip_whitelist: [],
        token_limit: null,
        state: 'active',
        active_tokens: 0,
        regenerated_at: null,
        last_used_at: null,
        app_token_last4: app_token.slice(-4),
      })
      expect(app_token).toMatch(/^jta_[\w-]{49}$/)
      expect(rest.id).toMatch(/^key_\w{16}$/)
      expect(rest.app_id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
      const path = `/projects/${project.id}/api-keys`
      expect((await service.manage('GET', `${path}/${rest.id}`)).body).toEqual(rest)
      expect((await service.manage('GET', path)).body.data).toEqual([rest])
    })

    test('an API key takes permissions, allowlist and limit at creation and later, and keeps fields that are not sent', async () => {
      const fields = {
        permissions: ['vouchers', 'client_api'],
        ip_whitelist: ['10.0.0.0/8', '::1'],
        token_limit: 7,
      }
      const key = await newKey(fields)
      expect((await service.manage('GET', key.path)).body).toMatchObject(fields)
      await service.advance(1_000)
      const changes = [
        { permissions: ['rewards'] },
        { ip_whitelist: [] },
        { token_limit: 1000 },
        { token_limit: null },
        { name: 'new' },
      ]
      let expected = (await service.manage('GET', key.path)).body
      for (const change of changes) {
        const { status, body } = await service.manage('PATCH', key.path, change)
        const { propagation, ...changed } = body
        expected = { ...expected, ...change, updated_at: body.updated_at }
        expect([status, changed]).toEqual([200, expected])
        expect(propagation).toMatchObject({ processes: 1, confirmed: 1 })
      }
      expect(Date.parse(expected.updated_at)).toBeGreaterThan(Date.parse(expected.created_at))
    })

    const REFUSED: [string, object, string][] = [
      ['an unknown permission', { permissions: ['reward'] }, 'rewards'],
      ['a permission in the wrong case', { permissions: ['skus'] }, 'SKUs'],
      ['permissions in one text', { permissions: 'vouchers' }, 'list'],
      ['no permission at all', { permissions: [] }, 'at least 1'],
      [
        'a permission with a space',
        { permissions: ['vouchers rewards'] },
        'permissions[0] must be one of 42 values',
      ],
      [
        'a range that is none',
        { ip_whitelist: ['10.0.0.1', '10.0.0.0/33'] },
        'ip_whitelist[1] must be an address',
      ],
      ['a host name', { ip_whitelist: ['shop.example'] }, 'ip_whitelist[0] must be an address'],
      ['an address with a port', { ip_whitelist: ['10.0.0.1:80'] }, 'ip_whitelist[0] must be an address'],
      ['an octal address', { ip_whitelist: ['010.0.0.1'] }, 'ip_whitelist[0] must be an address'],
      ['an empty entry', { ip_whitelist: [''] }, 'ip_whitelist[0] must be an address'],
      ['201 entries', { ip_whitelist: Array.from({ length: 201 }, () => '10.0.0.1') }, 'at most 200'],
      ['a limit of none', { token_limit: 0 }, 'at least 1'],
      ['a limit above the limit', { token_limit: 1001 }, 'at most 1000'],
      ['half a limit', { token_limit: 1.5 }, 'whole number'],
      ['a limit as text', { token_limit: '5' }, 'whole number'],
      ['a state', { state: 'deleted' }, 'not a field'],
      ['a secret of its own', { app_token: 'jta_mine' }, 'not a field'],
    ]
    test.each(REFUSED)(
      'an API key with %s is refused with a message, and nothing changes',
      async (_, fields, words) => {
        const key = await newKey()
        const before = await everythingIn(service.service.db)
        const created = await service.manage('POST', key.path.replace(/\/key_\w+$/, ''), {
          name: 'x',
          ...fields,
        })
        const changed = await service.manage('PATCH', key.path, fields)
        for (const { status, body } of [created, changed]) {
          expect([status, body.key]).toEqual([400, 'invalid_payload'])
          expect(`${body.message} ${body.details}`).toContain(words)
        }
        expect(await everythingIn(service.service.db)).toEqual(before)
      },
    )

    test('blocking an API key refuses it and ends its tokens for good, and it can issue again once unblocked', async () => {
      const key = await newKey()
      const token = await tokenOf(key)
      const blocked = await service.manage('POST', `${key.path}/block`)
      expect([blocked.status, blocked.body.state, blocked.body.active_tokens]).toEqual([200, 'blocked', 0])
      expect((await service.issue(key)).body.key).toBe('api_key_blocked')
      const unblocked = await service.manage('POST', `${key.path}/unblock`)
      expect([unblocked.status, unblocked.body.state]).toEqual([200, 'active'])
      expect(await isActive(key, token)).toBe(false)
      expect(await isActive(key, await tokenOf(key))).toBe(true)
    })

    test('blocking or unblocking an API key twice changes it once, with one audit entry', async () => {
      const key = await newKey()
      for (const verb of ['block', 'unblock']) {
        const [first, second] = [
          await service.manage('POST', `${key.path}/${verb}`),
          await service.manage('POST', `${key.path}/${verb}`),
        ]
        expect([second.status, second.body]).toEqual([200, first.body])
        const action = verb === 'block' ? 'api_key.blocked' : 'api_key.unblocked'
        expect(
          (await service.manage('GET', `/audit-log?subject=${key.id}&action=${action}`)).body.total,
        ).toBe(1)
      }
    })

    test('regenerating an API key keeps its ids and tokens, and ends the old secret at once without a grace period', async () => {
      const key = await newKey()
      const token = await tokenOf(key)
      const { status, body } = await service.manage('POST', `${key.path}/regenerate`)
      expect(status).toBe(200)
      expect(body).toMatchObject({
        id: key.id,
        app_id: key.app_id,
        client_id: key.client_id,
        app_token_last4: body.app_token.slice(-4),
      })
      expect(body.regenerated_at).toMatch(ISO)
      expect(body.app_token).not.toBe(key.app_token)
      expect((await service.issue(key)).status).toBe(401)
      const renewed = { appId: key.appId, appToken: body.app_token }
      expect(await isActive(renewed, token)).toBe(true)
      expect((await service.issue(renewed)).body.client_id).toBe(key.client_id)
      expect((await service.manage('GET', key.path)).text).not.toContain(body.app_token)
    })

    test('regenerating an API key with a grace period accepts the previous secret until its end, to the second', async () => {
      const key = await newKey()
      const { body } = await service.manage('POST', `${key.path}/regenerate`, { grace_seconds: 60 })
      const renewed = { appId: key.appId, appToken: body.app_token }
      await service.advance(59_999)
      expect([(await service.issue(key)).status, (await service.issue(renewed)).status]).toEqual([200, 200])
      await service.advance(1)
      expect([(await service.issue(key)).status, (await service.issue(renewed)).status]).toEqual([401, 200])
    })

    test('regenerating an API key again ends the earlier grace period at once', async () => {
      const first = await newKey()
      const regenerated = await service.manage('POST', `${first.path}/regenerate`, { grace_seconds: 86_400 })
      const second = { appId: first.appId, appToken: regenerated.body.app_token }
      expect((await service.issue(first)).status).toBe(200)
      const again = await service.manage('POST', `${first.path}/regenerate`, { grace_seconds: 86_400 })
      const third = { appId: first.appId, appToken: again.body.app_token }
      const statuses = await Promise.all(
        [first, second, third].map(async (pair) => (await service.issue(pair)).status),
      )
      expect(statuses).toEqual([401, 200, 200])
    })

    test.each([-1, 86_401, 0.5, '60', null, true])(
      'an API key is not regenerated with a grace period of %j',
      async (grace_seconds) => {
        const key = await newKey()
        const refused = await service.manage('POST', `${key.path}/regenerate`, { grace_seconds })
        expect([refused.status, refused.body.key]).toEqual([400, 'invalid_payload'])
        expect(refused.body.message).toContain('grace_seconds')
        expect((await service.issue(key)).status).toBe(200)
      },
    )

    test('revoke-tokens ends all tokens of an API key, and none that it issues afterwards', async () => {
      const key = await newKey()
      const tokens = [await tokenOf(key), await tokenOf(key)]
      const revoked = await service.manage('POST', `${key.path}/revoke-tokens`)
      expect([revoked.status, revoked.body.state, revoked.body.active_tokens]).toEqual([200, 'active', 0])
      for (const token of tokens) expect(await isActive(key, token)).toBe(false)
      expect(await isActive(key, await tokenOf(key))).toBe(true)
    })

    test('a deleted API key stays readable, is listed only on request, and cannot be changed', async () => {
      const project = await newProject()
      const [kept, key] = [
        await service.key(project.id, { name: 'kept' }),
        await service.key(project.id, { name: 'gone' }),
      ]
      const token = await tokenOf(key)
      const deleted = await service.manage('DELETE', key.path)
      expect([deleted.status, deleted.body.state, deleted.body.active_tokens]).toEqual([200, 'deleted', 0])
      expect((await service.manage('GET', key.path)).body).toEqual(deleted.body)
      expect((await service.issue(key)).status).toBe(401)
      expect(await isActive(kept, token)).toBe(false)
      const list = (query: string) => service.manage('GET', `/projects/${project.id}/api-keys${query}`)
      expect(idsOf(await list(''))).toEqual([kept.id])
      expect(idsOf(await list('?state=deleted'))).toEqual([key.id])
      const verbs = ['block', 'unblock', 'regenerate', 'revoke-tokens'].map(
        (verb) => ['POST', `${key.path}/${verb}`] as const,
      )
      for (const [method, path] of [['DELETE', key.path], ['PATCH', key.path], ...verbs] as const) {
        const refused = await service.manage(method, path, method === 'PATCH' ? { name: 'back' } : undefined)
        expect([refused.status, refused.body.key], path).toEqual([409, 'invalid_state'])
      }
      expect((await service.manage('GET', key.path)).body).toEqual(deleted.body)
    })

    test('API keys are filtered by state', async () => {
      const project = await newProject()
      const [active, blocked] = [await service.key(project.id), await service.key(project.id)]
      await service.manage('POST', `${blocked.path}/block`)
      const list = async (state: string) =>
        idsOf(await service.manage('GET', `/projects/${project.id}/api-keys?state=${state}`))
      expect([await list('active'), await list('blocked'), await list('deleted')]).toEqual([
        [active.id],
        [blocked.id],
        [],
      ])
    })

    test('an API key shows its last use, which is not recorded as a change', async () => {
      const key = await newKey()
      const before = (await service.manage('GET', key.path)).body
      const usedAt = new Date(service.clock.now()).toISOString()
      await tokenOf(key)
      await service.advance(3_000)
      await expect.poll(async () => (await service.manage('GET', key.path)).body.last_used_at).toBe(usedAt)
      const after = (await service.manage('GET', key.path)).body
      const use = {
        last_used_at: usedAt,
        last_used_from: '127.0.0.1',
        recent_addresses: [{ address: '127.0.0.1', last_used_at: usedAt }],
        usage_24h: { requests: expect.any(Number), refused: 0 },
      }
      expect(after).toEqual({ ...before, ...use, active_tokens: 1 })
    })

    test('every request for an API key of another project gets 404', async () => {
      const [key, other] = [await newKey(), await newProject()]
      const foreign = `/projects/${other.id}/api-keys/${key.id}`
      const before = await everythingIn(service.service.db)
      const asked: [string, string, object?][] = [
        ['GET', foreign],
        ['PATCH', foreign, { name: 'mine' }],
        ['DELETE', foreign],
        ...['block', 'unblock', 'regenerate', 'revoke-tokens'].map((verb): [string, string] => [
          'POST',
          `${foreign}/${verb}`,
        ]),
      ]
      for (const [method, path, body] of asked) {
        const answer = await service.manage(method, path, body)
        expect([answer.status, answer.body.resource_id, answer.body.resource_type], path).toEqual([
          404,
          key.id,
          'api_key',
        ])
        const unknown = await service.manage(method, path.replace(key.id, 'key_0000000000000000'), body)
        const masked = (text: string) =>
          text
            .replaceAll(key.id, 'ID')
            .replaceAll('key_0000000000000000', 'ID')
            .replace(/v-\w{18}/, '')
        expect(masked(answer.text)).toBe(masked(unknown.text))
      }
      expect(await everythingIn(service.service.db)).toEqual(before)
    })
  })

  describe('tokens, as operators see them', () => {
    test('operators list tokens by key without their values, and revoke single ones', async () => {
      const project = await newProject()
      const [one, other] = [await service.key(project.id), await service.key(project.id)]
      const token = await tokenOf(one)
      await tokenOf(other)
      const list = (query = '') => service.manage('GET', `/projects/${project.id}/tokens${query}`)
      const own = await list(`?key=${one.id}`)
      expect([(await list()).body.total, own.body.total]).toEqual([2, 1])
      expect(own.body.data[0]).toMatchObject({
        object: 'token',
        key_id: one.id,
        client_id: one.client_id,
        scope: 'vouchers',
        expires_in: 900,
      })
      expect(own.text).not.toContain(token)
      const path = `/projects/${project.id}/tokens/${own.body.data[0].id}`
      expect((await service.manage('DELETE', path.replace(project.id, (await newProject()).id))).status).toBe(
        404,
      )
      expect(await isActive(one, token)).toBe(true)
      expect((await service.manage('DELETE', path)).status).toBe(204)
      expect(await isActive(one, token)).toBe(false)
      expect((await service.manage('DELETE', path)).status).toBe(404)
      expect((await list()).body.total).toBe(1)
    })

    test('operators see active tokens per key, most first, with the time when capacity becomes free', async () => {
      const project = await newProject()
      const usage = () => service.manage('GET', `/projects/${project.id}/token-usage`)
      expect((await usage()).body).toMatchObject({
        active_tokens: 0,
        token_limit: 1000,
        next_free_in: null,
        keys: [],
      })
      const [few, many] = [
        await service.key(project.id, { name: 'few', token_limit: 5 }),
        await service.key(project.id, { name: 'many' }),
      ]
      await tokenOf(few)
      await service.advance(10_000)
      for (let i = 0; i < 2; i++) await tokenOf(many)
      const { body } = await usage()
      expect(body.active_tokens).toBe(3)
      expect(body.keys.map((key: object) => ({ ...key, next_free_in: 0 }))).toEqual([
        { key_id: many.id, name: 'many', active_tokens: 2, token_limit: null, next_free_in: 0 },
        { key_id: few.id, name: 'few', active_tokens: 1, token_limit: 5, next_free_in: 0 },
      ])
      expect(body.next_free_in).toBe(
        Math.min(...body.keys.map((key: { next_free_in: number }) => key.next_free_in)),
      )
      expect(body.next_free_in).toBeLessThanOrEqual(890)
    })
  })

  describe('an operator', () => {
    test('a new operator gets a token that is shown once and opens the management API', async () => {
      const { status, body } = await service.manage('POST', '/operators', { name: 'Ada', role: 'admin' })
      expect(status).toBe(201)
      const { token, ...rest } = body
      expect(fieldsOf(rest)).toEqual(OPERATOR_FIELDS)
      expect(rest).toMatchObject({
        object: 'operator',
        name: 'Ada',
        role: 'admin',
        projects: null,
        token_last4: token.slice(-4),
        last_used_at: null,
      })
      expect(token).toMatch(/^jtm_[\w-]{49}$/)
      expect((await service.manage('GET', `/operators/${rest.id}`)).body).toEqual(rest)
      const list = await asOperator(rest.id, token)
      expect(list.status).toBe(200)
      expect(idsOf(list)).toContain(rest.id)
      expect(list.text).not.toContain(token)
      await service.advance(3_000)
      await expect
        .poll(async () => (await service.manage('GET', `/operators/${rest.id}`)).body.last_used_at)
        .toMatch(ISO)
    })

    test('a regenerated operator is admitted with the new token only, at once', async () => {
      const { body: before } = await service.manage('POST', '/operators', { name: 'Bo', role: 'admin' })
      const { status, body } = await service.manage('POST', `/operators/${before.id}/regenerate`)
      expect([status, body.id, body.token_last4]).toEqual([200, before.id, body.token.slice(-4)])
      expect((await asOperator(before.id, before.token)).status).toBe(401)
      expect((await asOperator(before.id, body.token)).status).toBe(200)
    })

    test('a deleted operator is refused at once, with the same bytes as an unknown one', async () => {
      const { body } = await service.manage('POST', '/operators', { name: 'Cy' })
      const deleted = await service.manage('DELETE', `/operators/${body.id}`)
      expect([deleted.status, deleted.text]).toEqual([204, ''])
      const [gone, never] = [await asOperator(body.id, body.token), await asOperator('op_never', body.token)]
      const masked = ({ text, body: { request_id } }: Answer) => text.replace(request_id, '')
      expect([gone.status, masked(gone)]).toEqual([401, masked(never)])
      for (const method of ['GET', 'DELETE'])
        expect((await service.manage(method, `/operators/${body.id}`)).status).toBe(404)
      expect((await service.manage('POST', `/operators/${body.id}/regenerate`)).status).toBe(404)
    })

    test('the last operator cannot be deleted, also when two delete each other concurrently', async () => {
      const own = await startTimedService(engine)
      const lonely = await own.manage('DELETE', `/operators/${OPERATOR.id}`)
      expect([lonely.status, lonely.body.key]).toEqual([409, 'invalid_state'])
      const { body: other } = await own.manage('POST', '/operators', { name: 'second', role: 'admin' })
      const headers = { 'x-management-id': other.id, 'x-management-token': other.token }
      const both = await Promise.all([
        own.manage('DELETE', `/operators/${other.id}`),
        send(`${own.url}/management/v1/operators/${OPERATOR.id}`, { method: 'DELETE', headers }),
      ])
      expect(both.filter(({ status }) => status === 204)).toHaveLength(1)
      expect((await everythingIn(own.service.db)).operators).toHaveLength(1)
      await own.stop()
    })

    test('processes that start together create or change the operator of the settings once', async () => {
      const store = await engine.freshStore()
      const [first, ...others] = await Promise.all(Array.from({ length: 4 }, () => store.open()))
      await migrate(first!, { migrations: MIGRATIONS, program: VERSION })
      for (const token of ['the-token-at-first-of-32-characters', 'the-token-later-of-32-characters-x'])
        await Promise.all(
          [first!, ...others].map((db) =>
            ensureConfiguredOperator({ db, random: randomBytes }, { id: 'me', token }),
          ),
        )
      const { operators, audit_log } = await everythingIn(first!)
      expect([operators!.length, audit_log!.length]).toEqual([1, 2])
    })

    test('a start creates the operator of the settings, keeps it if unchanged, and updates a changed token', async () => {
      const env = await engine.settings()
      const clock = new TestClock(Date.now())
      const start = (JETON_MANAGEMENT_TOKEN: string) =>
        startService({ ...env, JETON_MANAGEMENT_TOKEN }, { clock })
      const tokens = ['first-token-of-the-settings-operator', 'second-token-of-the-settings-operator']
      const letIn = async (url: string) =>
        Promise.all(
          tokens.map(async (token) => {
            const headers = { 'x-management-id': OPERATOR.id, 'x-management-token': token }
            return (await send(`${url}/management/v1/projects`, { headers })).status
          }),
        )
      const seen: number[][] = []
      for (const token of [tokens[0]!, tokens[0]!, tokens[1]!, tokens[1]!]) {
        const own = await start(token)
        seen.push(await letIn(own.url))
        await own.stop()
      }
      expect(seen).toEqual([
        [200, 401],
        [200, 401],
        [401, 200],
        [401, 200],
      ])
      const own = await start(tokens[1]!)
      const headers = { 'x-management-id': OPERATOR.id, 'x-management-token': tokens[1]! }
      const { body } = await send(`${own.url}/management/v1/audit-log`, { headers })
      const system = { type: 'system', id: 'settings' }
      expect(body.data).toMatchObject([
        { action: 'operator.regenerated', actor: system, subject: { type: 'operator', id: OPERATOR.id } },
        { action: 'operator.created', actor: system },
      ])
      await own.stop()
    })
  })
})
