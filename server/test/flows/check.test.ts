import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eachEngine } from '../engines.ts'
import { type Answer, type Pair, send } from '../service.ts'
import { everythingIn, startTimedService, type TimedService } from '../timed-service.ts'

type Key = Awaited<ReturnType<TimedService['key']>>

interface Question {
  readonly access_token?: string
  readonly app_id?: string
  readonly path: string
  readonly address?: string
}

interface Ladder {
  readonly object: string
  readonly allowed: boolean
  readonly required_scope: string | null
  readonly steps: { step: string; passed: boolean; says: string }[]
  readonly remedy: string | null
  readonly command: string | null
  readonly response: { status: number; headers: Record<string, string>; body: object | null }
}

const HERE = '127.0.0.1'

eachEngine((engine) => {
  let service: TimedService
  let project: { id: string }
  beforeAll(async () => {
    service = await startTimedService(engine)
    project = await service.project('Checked')
  })
  afterAll(() => service.stop())

  let made = 0
  const newKey = (fields: Record<string, unknown> = {}) =>
    service.key(project.id, { name: `key ${++made}`, ...fields })
  const tokenOf = async (key: Pair, scope = 'vouchers'): Promise<string> =>
    (await service.issue(key, scope)).body.access_token
  const change = (key: Key, fields: object) => service.manage('PATCH', key.path, fields)

  async function check(question: Question): Promise<Ladder> {
    const { status, body } = await service.manage('POST', '/access-checks', question)
    expect(status).toBe(200)
    return body
  }

  const failures = ({ steps }: Ladder) => steps.filter(({ passed }) => !passed).map(({ step }) => step)
  const stepsOf = ({ steps }: Ladder) => steps.map(({ step }) => step)

  describe('a check of a token', () => {
    test('a check of a valid token shows every step and nothing to fix', async () => {
      const key = await newKey({ name: 'Till', permissions: ['vouchers', 'orders'], ip_whitelist: [HERE] })
      const answer = await check({
        access_token: await tokenOf(key),
        path: '/v1/vouchers/x?y',
        address: HERE,
      })
      expect(answer).toMatchObject({
        object: 'access_check',
        allowed: true,
        required_scope: 'vouchers',
        remedy: null,
      })
      expect(stepsOf(answer)).toEqual([
        'path',
        'well_formed',
        'known',
        'not_revoked',
        'not_expired',
        'not_invalidated',
        'key_active',
        'address',
        'permissions',
        'scope',
      ])
      expect(answer.steps.every(({ passed, says }) => passed && says !== '')).toBe(true)
      expect(answer.steps[2]!.says).toContain('"Till"')
    })

    test.each([
      [
        'path',
        async () => ({ access_token: await tokenOf(await newKey()), path: '/v1/vouchers/../campaigns' }),
        'plain path',
      ],
      [
        'path',
        async () => ({ access_token: await tokenOf(await newKey()), path: '/elsewhere' }),
        'below /v1',
      ],
      ['well_formed', async () => ({ access_token: 'jtn_cut', path: '/v1/vouchers' }), 'truncated'],
      [
        'scope',
        async () => ({ access_token: await tokenOf(await newKey()), path: '/v1/orders' }),
        'a token with "orders"',
      ],
      [
        'permissions',
        async () => {
          const key = await newKey({ name: "Joe's till", permissions: ['vouchers', 'rewards'] })
          const access_token = await tokenOf(key)
          await change(key, { permissions: ['rewards'] })
          return { access_token, path: '/v1/vouchers' }
        },
        "jeton key update 'Joe'\\''s till' --permissions rewards,vouchers",
      ],
      [
        'address',
        async () => ({
          access_token: await tokenOf(await newKey({ name: 'Walled', ip_whitelist: [HERE] })),
          path: '/v1/vouchers',
          address: '198.51.100.1',
        }),
        'jeton key update Walled --ip-whitelist 127.0.0.1,198.51.100.1',
      ],
      [
        'not_revoked',
        async () => {
          const key = await newKey()
          const access_token = await tokenOf(key)
          await service.form('/v1/oauth/token/revoke', { access_token }, key)
          return { access_token, path: '/v1/vouchers' }
        },
        'request a new token',
      ],
      [
        'not_invalidated',
        async () => {
          const key = await newKey()
          const access_token = await tokenOf(key)
          await service.manage('POST', `${key.path}/revoke-tokens`)
          return { access_token, path: '/v1/vouchers' }
        },
        'request a new token',
      ],
    ] as [string, () => Promise<Question>, string][])(
      'that fails at %s says so, and how to fix it',
      async (step, ask, remedy) => {
        const answer = await check(await ask())
        expect([answer.allowed, failures(answer)]).toEqual([false, [step]])
        expect(answer.remedy).toContain(remedy)
        expect(answer.command).toBe(/(?<=: )jeton key (update|unblock) .*/.exec(answer.remedy!)?.[0] ?? null)
      },
    )

    test('a check of a token of a blocked key says that the token is dead for good and that the key can be unblocked', async () => {
      const key = await newKey({ name: 'Blocked' })
      const question = { access_token: await tokenOf(key), path: '/v1/vouchers' }
      await service.manage('POST', `${key.path}/block`)
      expect(failures(await check(question))).toEqual(['not_invalidated', 'key_active'])
      await service.manage('POST', `${key.path}/unblock`)
      expect(failures(await check(question))).toEqual(['not_invalidated'])
    })

    test('a check distinguishes an unknown token from an expired one', async () => {
      const own = await startTimedService(engine)
      const key = await own.key((await own.project('Late')).id)
      const access_token = (await own.issue(key)).body.access_token as string
      const unknown = await check({ access_token, path: '/v1/vouchers' })
      expect([failures(unknown), unknown.remedy]).toEqual([['known'], 'The client must request a new token.'])
      await own.jump(899_000)
      const ask = async () =>
        (await own.manage('POST', '/access-checks', { access_token, path: '/v1/vouchers' })).body
      expect(failures(await ask())).toEqual([])
      await own.jump(2_000)
      expect(failures(await ask())).toEqual(['not_expired'])
      await own.stop()
    })
  })

  describe('a check of a key', () => {
    test('a check of a key takes its app id and no secret', async () => {
      const key = await newKey({ permissions: ['vouchers'], ip_whitelist: ['10.0.0.0/8'] })
      const ask = (path: string, address?: string) =>
        check({ app_id: key.appId, path, ...(address && { address }) })
      expect(stepsOf(await ask('/v1/vouchers', '10.1.2.3'))).toEqual([
        'path',
        'credential',
        'key_active',
        'address',
        'permissions',
      ])
      expect(failures(await ask('/v1/vouchers', '10.1.2.3'))).toEqual([])
      expect(failures(await ask('/v1/vouchers', '::ffff:10.1.2.3'))).toEqual([])
      expect(failures(await ask('/v1/orders', '192.0.2.1'))).toEqual(['address', 'permissions'])
      expect(failures(await ask('/client/v1/vouchers'))).toEqual(['permissions'])
      await service.manage('DELETE', key.path)
      expect(failures(await ask('/v1/vouchers'))).toContain('key_active')
    })

    test('a check of a path without a scope advises to check the path, and never to permit everything', async () => {
      const key = await newKey({ permissions: ['vouchers'] })
      const { steps, remedy, allowed } = await check({ app_id: key.appId, path: '/v1/reward' })
      expect(allowed).toBe(false)
      expect(steps[0]!.says).toBe(
        '/v1/reward requires "api", because no scope names this path. Did you mean /v1/rewards?',
      )
      expect(remedy).toBe('Check the path: no scope names it.')
      const token = await check({ access_token: await tokenOf(key), path: '/client/v1/nothing' })
      expect(token.remedy).toBe('Check the path: no scope names it.')
    })

    test('a check of an unknown key ends at the credential', async () => {
      const answer = await check({ app_id: '00000000-0000-4000-8000-000000000000', path: '/v1/vouchers' })
      expect([stepsOf(answer), failures(answer)]).toEqual([['path', 'credential'], ['credential']])
    })
  })

  function expectSameResponse({ response }: Ladder, actual: Answer): void {
    const { request_id, ...body } = actual.body ?? {}
    expect(response.status).toBe(actual.status)
    expect(response.body).toEqual(actual.body === undefined ? null : body)
    for (const name of ['www-authenticate', 'x-jeton-key-id', 'x-jeton-scope', 'x-jeton-client-id'])
      expect(response.headers[name] ?? null, name).toBe(actual.headers.get(name))
  }

  test('a check agrees with the gateway in every state of the key and its token', async () => {
    const states: ((key: Key) => Promise<unknown>)[] = [
      async () => undefined,
      (key) => change(key, { permissions: ['orders'] }),
      (key) => change(key, { permissions: ['api'] }),
      (key) => change(key, { permissions: ['client_api'] }),
      (key) => change(key, { ip_whitelist: ['10.0.0.1'] }),
      (key) => change(key, { ip_whitelist: [HERE] }),
      (key) => service.manage('POST', `${key.path}/block`),
      (key) => service.manage('POST', `${key.path}/regenerate`),
      (key) => service.manage('POST', `${key.path}/revoke-tokens`),
      (key) => service.manage('DELETE', key.path),
    ]
    const paths = [
      '/v1/vouchers',
      '/v1/orders/x',
      '/client/v1/redeem',
      '/v1',
      '/v1//vouchers',
      '/nowhere',
      '/v1/Vouchers',
    ]
    let allowed = 0
    for (const state of states) {
      const key = await newKey({ permissions: ['vouchers', 'client_redeem'] })
      const access_token = await tokenOf(key, 'vouchers client_redeem')
      await state(key)
      for (const path of paths) {
        const headers = { authorization: `Bearer ${access_token}`, 'x-original-uri': path }
        const actual = await send(`${service.url}/gateway/authorize`, { headers })
        const told = await check({ access_token, path, address: HERE })
        expect(told.allowed, `${state} ${path}`).toBe(actual.status === 200)
        expectSameResponse(told, actual)
        const pair = { 'x-app-id': key.appId, 'x-app-token': key.appToken, 'x-original-uri': path }
        const isReplaced = String(state).includes('regenerate')
        if (!isReplaced)
          expectSameResponse(
            await check({ app_id: key.appId, path, address: HERE }),
            await send(`${service.url}/gateway/authorize`, { headers: pair }),
          )
        if (told.allowed) allowed++
      }
    }
    expect(allowed).toBeGreaterThan(5)
  })

  describe('the question', () => {
    const ask = async (question: unknown) => {
      const { status, body } = await service.manage('POST', '/access-checks', question)
      return [status, body.key]
    }

    test('a check requires one credential and a path', async () => {
      const path = '/v1/vouchers'
      expect(await ask({ path })).toEqual([400, 'missing_parameters'])
      expect(await ask({ path, access_token: 'jtn_x', app_id: 'x' })).toEqual([400, 'missing_parameters'])
      expect(await ask({ app_id: 'x' })).toEqual([400, 'missing_parameters'])
      expect(await ask({ app_id: 'x', path: '' })).toEqual([400, 'invalid_payload'])
      expect(await ask({ app_id: 'x', path, secret: 'y' })).toEqual([400, 'invalid_payload'])
      for (const address of ['garbage', '', '10.0.0.0/8', '10.0.0.256'])
        expect(await ask({ app_id: 'x', path, address }), address).toEqual([400, 'invalid_payload'])
    })

    test('a check is for operators, changes nothing, and neither returns nor stores the token', async () => {
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"app_id":"x","path":"/v1/x"}',
      }
      expect((await send(`${service.url}/management/v1/access-checks`, init)).status).toBe(401)
      const access_token = await tokenOf(await newKey())
      const before = await everythingIn(service.service.db)
      const { text, headers } = await service.manage('POST', '/access-checks', {
        access_token,
        path: '/v1/orders',
      })
      expect([text.includes(access_token), headers.get('cache-control')]).toEqual([false, 'no-store'])
      expect(await everythingIn(service.service.db)).toEqual(before)
    })
  })
})
