import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nameActors } from '../../src/app/name-actors.ts'
import { eachEngine } from '../engines.ts'
import { type Answer, OPERATOR, send } from '../service.ts'
import { everythingIn, startTimedService, type TimedService } from '../timed-service.ts'

const ENTRY_FIELDS = [
  'action',
  'actor',
  'actor_name',
  'address',
  'after',
  'at',
  'before',
  'id',
  'object',
  'project_id',
  'request_id',
  'subject',
  'via',
]

interface Entry {
  readonly id: string
  readonly action: string
  readonly at: string
}

eachEngine((engine) => {
  let service: TimedService
  let filtered: TimedService
  beforeAll(async () => {
    service = await startTimedService(engine)
    filtered = await startTimedService(engine)
  })
  afterAll(async () => {
    await service.stop()
    await filtered.stop()
  })

  const entries = async (query: string): Promise<Entry[]> =>
    (await service.manage('GET', `/audit-log${query}`)).body.data
  const latest = async () => (await entries('?limit=1'))[0]!

  describe('the audit log', () => {
    test('the audit log has one entry per change, with time, actor, address, action, before, after and request id', async () => {
      const project = await service.project('Changes')
      const key = await service.key(project.id, { name: 'shop' })
      const token = await service.issue(key)
      const tokenId = (await service.manage('GET', `/projects/${project.id}/tokens`)).body.data[0].id
      const operator = (await service.manage('POST', '/operators', { name: 'Ada' })).body
      const changes: [string, string, object | undefined, string, object, object | null, object | null][] = [
        [
          'PATCH',
          `/projects/${project.id}`,
          { name: 'Renamed' },
          'project.updated',
          { type: 'project', id: project.id },
          { name: 'Changes' },
          { name: 'Renamed' },
        ],
        [
          'PATCH',
          key.path,
          { permissions: ['rewards'] },
          'api_key.updated',
          { type: 'api_key', id: key.id },
          { permissions: ['api'] },
          { permissions: ['rewards'] },
        ],
        [
          'POST',
          `${key.path}/block`,
          undefined,
          'api_key.blocked',
          { type: 'api_key', id: key.id },
          { state: 'active' },
          { state: 'blocked' },
        ],
        [
          'POST',
          `${key.path}/unblock`,
          undefined,
          'api_key.unblocked',
          { type: 'api_key', id: key.id },
          { state: 'blocked' },
          { state: 'active' },
        ],
        [
          'POST',
          `${key.path}/regenerate`,
          { grace_seconds: 60 },
          'api_key.regenerated',
          { type: 'api_key', id: key.id },
          { app_token_last4: key.appToken.slice(-4) },
          { id: key.id },
        ],
        [
          'POST',
          `${key.path}/revoke-tokens`,
          undefined,
          'api_key.tokens_revoked',
          { type: 'api_key', id: key.id },
          { state: 'active' },
          { state: 'active' },
        ],
        [
          'DELETE',
          key.path,
          undefined,
          'api_key.deleted',
          { type: 'api_key', id: key.id },
          { state: 'active' },
          { state: 'deleted' },
        ],
        [
          'POST',
          `/operators/${operator.id}/regenerate`,
          undefined,
          'operator.regenerated',
          { type: 'operator', id: operator.id },
          { token_last4: operator.token.slice(-4) },
          { name: 'Ada' },
        ],
        [
          'DELETE',
          `/operators/${operator.id}`,
          undefined,
          'operator.deleted',
          { type: 'operator', id: operator.id },
          { name: 'Ada' },
          null,
        ],
        [
          'DELETE',
          `/projects/${project.id}`,
          { name: 'Renamed' },
          'project.deleted',
          { type: 'project', id: project.id },
          { name: 'Renamed' },
          null,
        ],
      ]
      expect([token.status, tokenId]).toEqual([200, expect.stringMatching(/^tok_/)])
      for (const [method, path, body, action, subject, before, after] of changes) {
        await service.advance(5)
        const answer = await service.manage(method, path, body)
        expect(answer.status, action).toBeLessThan(300)
        const entry = await latest()
        expect(Object.keys(entry).sort()).toEqual(ENTRY_FIELDS)
        expect(entry).toMatchObject({
          object: 'audit_entry',
          at: new Date(service.clock.now()).toISOString(),
          actor: { type: 'operator', id: OPERATOR.id },
          address: '127.0.0.1',
          action,
          project_id: action.startsWith('operator') ? null : project.id,
          subject,
          request_id: answer.headers.get('x-request-id'),
        })
        if (before) expect(entry, action).toMatchObject({ before })
        if (after) expect(entry, action).toMatchObject({ after })
        else expect(entry, action).toMatchObject({ after: null })
      }
    })

    test('the audit log shows a creation with nothing before and the resource after', async () => {
      await service.advance(5)
      const project = await service.project('Created')
      expect(await latest()).toMatchObject({
        action: 'project.created',
        before: null,
        after: { id: project.id, name: 'Created' },
      })
      await service.advance(5)
      const key = await service.key(project.id)
      expect(await latest()).toMatchObject({
        action: 'api_key.created',
        before: null,
        after: { id: key.id, state: 'active' },
      })
      await service.advance(5)
      const { body } = await service.manage('POST', '/operators', { name: 'Bo' })
      expect(await latest()).toMatchObject({
        action: 'operator.created',
        before: null,
        after: { id: body.id, name: 'Bo' },
      })
    })

    test('the audit log names a revoked token by its id', async () => {
      const project = await service.project('Tokens')
      const key = await service.key(project.id)
      await service.issue(key)
      const { id } = (await service.manage('GET', `/projects/${project.id}/tokens`)).body.data[0]
      await service.advance(5)
      await service.manage('DELETE', `/projects/${project.id}/tokens/${id}`)
      expect(await latest()).toMatchObject({
        action: 'token.revoked',
        subject: { type: 'token', id },
        before: { key_id: key.id },
      })
    })

    test('the audit log names the operator or API key of a change, until it is gone', async () => {
      await service.advance(5)
      const project = await service.project('Named')
      const key = await service.key(project.id, { name: 'till' })
      const { id, token } = (await service.manage('POST', '/operators', { name: 'Cy', role: 'admin' })).body
      const nameOfLatest = async () => ((await latest()) as Entry & { actor_name: unknown }).actor_name
      expect(await nameOfLatest()).toBe('tester')
      await service.advance(5)
      const headers = {
        'x-management-id': id,
        'x-management-token': token,
        'content-type': 'application/json',
      }
      const body = JSON.stringify({ name: 'Named again' })
      await send(`${service.url}/management/v1/projects/${project.id}`, { method: 'PATCH', headers, body })
      expect(await nameOfLatest()).toBe('Cy')
      const ofCy = async () => (await entries(`?actor=${id}`)) as (Entry & { actor_name: unknown })[]
      await service.manage('DELETE', `/operators/${id}`)
      expect((await ofCy()).map(({ actor_name }) => actor_name)).toEqual([null])
      await service.advance(5)
      const actors = [
        { type: 'api_key', id: key.id, projectId: project.id },
        { type: 'operator', id: key.id, projectId: project.id },
        { type: 'system', id: 'x', projectId: null },
      ]
      expect([...(await nameActors(service.service.db, actors))]).toEqual([[key.id, 'till']])
    })

    test('the audit log has no entry for a refused request or one without a change', async () => {
      const project = await service.project('Quiet')
      const key = await service.key(project.id)
      const before = (await everythingIn(service.service.db)).audit_log
      await service.manage('POST', '/projects', { name: 'Quiet' })
      await service.manage('POST', '/projects', { name: '' })
      await service.manage('PATCH', `/projects/${project.id}`, { name: 'Quiet' })
      await service.manage('DELETE', `/projects/${project.id}`, { name: 'Loud' })
      await service.manage('POST', `${key.path}/unblock`)
      await service.manage('PATCH', key.path, {
        name: 'key',
        permissions: ['api'],
        ip_whitelist: [],
        token_limit: null,
      })
      await service.manage('DELETE', '/operators/op_nobody')
      expect((await everythingIn(service.service.db)).audit_log).toEqual(before)
    })

    test('a change without its audit entry is rolled back', async () => {
      const own = await startTimedService(engine)
      const { db } = own.service
      const project = await own.project('Kept')
      const key = await own.key(project.id)
      const rename = (from: string, to: string) =>
        db.transaction((tx) =>
          sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(tx.write()),
        )
      await rename('audit_log', 'mislaid')
      const { mislaid: _, ...before } = await everythingIn(db)
      const changes: [string, string, object?][] = [
        ['POST', '/projects', { name: 'Lost' }],
        ['PATCH', `/projects/${project.id}`, { name: 'Lost' }],
        ['DELETE', `/projects/${project.id}`, { name: 'Kept' }],
        ['POST', `/projects/${project.id}/api-keys`, { name: 'lost' }],
        ['PATCH', key.path, { name: 'lost' }],
        ['POST', `${key.path}/block`],
        ['POST', `${key.path}/regenerate`],
        ['POST', '/operators', { name: 'lost' }],
      ]
      for (const [method, path, body] of changes)
        expect((await own.manage(method, path, body)).status, path).toBe(500)
      const { mislaid: __, ...after } = await everythingIn(db)
      expect(after).toEqual(before)
      await rename('mislaid', 'audit_log')
      // The process has not cached the rolled-back change either.
      expect((await own.issue(key)).status).toBe(200)
      await own.stop()
    })

    test('the audit log of a project has only its own entries, and outlives the project', async () => {
      const [one, other] = [await service.project('One'), await service.project('Other')]
      await service.key(one.id)
      await service.key(other.id)
      await service.advance(5)
      await service.manage('DELETE', `/projects/${one.id}`, { name: 'One' })
      const log = await service.manage('GET', `/projects/${one.id}/audit-log`)
      expect(log.body.total).toBe(3)
      expect(new Set(log.body.data.map((entry: { project_id: string }) => entry.project_id))).toEqual(
        new Set([one.id]),
      )
      expect(log.body.data[0].action).toBe('project.deleted')
      expect((await service.manage('GET', '/projects/proj_unknown/audit-log')).body).toMatchObject({
        total: 0,
        data: [],
      })
    })
  })

  describe('its filters', () => {
    let keys: { id: string; path: string }[]
    let began: number
    const list = (query: string) => filtered.manage('GET', `/audit-log${query}`)

    beforeAll(async () => {
      const project = await filtered.project('Filtered')
      began = filtered.clock.now()
      keys = []
      for (let i = 0; i < 14; i++) {
        const key = await filtered.key(project.id, { name: `key ${i}` })
        keys.push(key)
        await filtered.manage('POST', `${key.path}/block`)
        // Pairs share a millisecond: the order must hold all the same.
        if (i % 2) await filtered.advance(10)
      }
    })

    test('filters of the audit log combine action, subject and actor', async () => {
      expect((await list('?action=api_key.blocked')).body.total).toBe(14)
      expect((await list(`?subject=${keys[3]!.id}`)).body.total).toBe(2)
      const one = await list(`?action=api_key.blocked&subject=${keys[3]!.id}&actor=${OPERATOR.id}`)
      expect([one.body.total, one.body.data[0].subject.id]).toEqual([1, keys[3]!.id])
      expect((await list('?actor=settings')).body.data).toMatchObject([{ action: 'operator.created' }])
      for (const nothing of ['?action=blocked', '?actor=TESTER', '?subject=%25', '?action=__proto__'])
        expect((await list(nothing)).body, nothing).toMatchObject({ total: 0, data: [], next_cursor: null })
    })

    test('time filters of the audit log include the start and exclude the end', async () => {
      const at = (ms: number) => encodeURIComponent(new Date(began + ms).toISOString())
      const blocked = async (query: string) => (await list(`?action=api_key.blocked${query}`)).body.total
      expect(await blocked(`&from=${at(10)}`)).toBe(12)
      expect(await blocked(`&to=${at(10)}`)).toBe(2)
      expect(await blocked(`&from=${at(10)}&to=${at(30)}`)).toBe(4)
      expect(await blocked(`&from=${at(11)}&to=${at(20)}`)).toBe(0)
      expect(await blocked('&from=2020-01-01&to=2020-01-02T00:00:00%2B01:00')).toBe(0)
    })

    test.each([1, 7, 10, 28])(
      'the audit log in pages of %i returns each entry once, while others are added',
      async (limit) => {
        const filter = `?limit=${limit}&from=${encodeURIComponent(new Date(began).toISOString())}`
        const first = await list(`${filter}`)
        const total: number = first.body.total
        expect(total).toBeGreaterThan(25)
        const seen: Entry[] = [...first.body.data]
        for (let cursor: string | null = first.body.next_cursor; cursor; ) {
          if (seen.length % 9 === 0) await filtered.manage('POST', '/operators', { name: 'meanwhile' })
          const { status, body }: Answer = await list(`${filter}&cursor=${cursor}`)
          expect(status).toBe(200)
          expect(body.data.length).toBeLessThanOrEqual(limit)
          seen.push(...body.data)
          cursor = body.next_cursor
          expect(seen.length).toBeLessThanOrEqual(total)
        }
        expect(seen).toHaveLength(total)
        expect(new Set(seen.map(({ id }) => id)).size).toBe(total)
        expect(seen.map(({ at }) => at)).toEqual(
          seen
            .map(({ at }) => at)
            .toSorted()
            .toReversed(),
        )
      },
    )

    test('a last page that is full has no cursor to an empty page', async () => {
      const { body } = await list('?action=api_key.blocked&limit=14')
      expect([body.data.length, body.next_cursor]).toEqual([14, null])
    })
  })

  test('no operation stores a secret in plain text or returns it a second time', async () => {
    const own = await startTimedService(engine)
    const secrets = [OPERATOR.token]
    const project = await own.project('Secrets')
    const key = await own.key(project.id)
    const other = await own.key(project.id)
    secrets.push(key.appToken, other.appToken)
    const regenerated = (await own.manage('POST', `${key.path}/regenerate`, { grace_seconds: 600 })).body
      .app_token
    const operator = (await own.manage('POST', '/operators', { name: 'Ada' })).body
    const renewed = (await own.manage('POST', `/operators/${operator.id}/regenerate`)).body.token
    secrets.push(regenerated, operator.token, renewed)
    const pair = { appId: key.appId, appToken: regenerated }
    const token = (await own.issue(pair)).body.access_token
    const revoked = (await own.issue(pair)).body.access_token
    secrets.push(token, revoked)
    await own.form('/v1/oauth/revoke', { token: revoked }, pair)
    await own.issue({ appId: other.appId, appToken: key.appToken })
    await own.issue({ appId: key.appToken, appToken: other.appId })
    // A secret without a prefix of Jeton cannot be recognised, so the first one is left out.
    for (const secret of secrets.slice(1))
      await send(`${own.url}/management/v1/projects/${secret}?token=${secret}`)
    await own.manage('GET', `/projects/${token}`)
    await own.manage('POST', `${other.path}/block`)
    await own.manage('DELETE', other.path)
    await own.manage('DELETE', `/operators/${operator.id}`)
    await own.advance(3_000)

    const answers: string[] = []
    for (const path of [
      '/operators',
      '/projects',
      `/projects/${project.id}`,
      '/audit-log?limit=100',
      `/operators/${OPERATOR.id}`,
    ])
      answers.push((await own.manage('GET', path)).text)
    for (const path of [
      '/api-keys',
      '/api-keys?state=deleted',
      '/tokens',
      '/token-usage',
      '/refusals',
      '/audit-log',
    ])
      answers.push((await own.manage('GET', `/projects/${project.id}${path}`)).text)
    answers.push((await own.manage('GET', key.path)).text, (await send(`${own.url}/metrics`)).text)
    await expect
      .poll(async () => {
        await own.advance(3_000)
        return (await everythingIn(own.service.db)).refusals!.length
      })
      .toBeGreaterThan(5)
    const stored = JSON.stringify(await everythingIn(own.service.db))
    for (const secret of secrets) {
      const bytes = Buffer.from(secret)
      const forms = [
        secret,
        bytes.toString('hex'),
        bytes.toString('base64').slice(0, -4),
        bytes.toString('base64url').slice(0, -4),
      ]
      // Without the prefix, the checksum and the four characters that are shown, it is no less secret.
      forms.push(secret.slice(6, -10))
      for (const form of forms) {
        expect(stored.includes(form), `stored: ${form}`).toBe(false)
        for (const text of answers) expect(text.includes(form), `answered: ${form}`).toBe(false)
      }
    }
    await own.stop()
  })
})
