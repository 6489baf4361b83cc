import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { eachEngine } from '../engines.ts'
import { madeUpToken } from '../made-up-token.ts'
import { rawRequest } from '../raw-request.ts'
import { type Answer, type Pair, send, startService, type TestService } from '../service.ts'

/** What is asked often is answered before Fastify sees it; what is unusual about a request sends it the long way. */
const QUICK = 'application/x-www-form-urlencoded'
const LONG = 'application/x-www-form-urlencoded; charset="utf-8"'

/** Different each time. */
const DIFFERS = ['x-request-id', 'date']

function shown({ status, headers, text }: Answer) {
  const rest = Object.fromEntries([...headers].filter(([name]) => !DIFFERS.includes(name)))
  const same = (value: string) => value.replaceAll(/v-[0-9a-f]{18}|jtn_[\w-]+/g, '…')
  return { status, headers: JSON.parse(same(JSON.stringify(rest))), text: same(text) }
}

/** A second later there is a second less to live, or to wait. */
const settled = (text: string): string =>
  text.replaceAll(/expires_(in|at)\\?":\d+|free in \d+ s|"retry-after":"\d+"/g, '…')

eachEngine((engine) => {
  let service: TestService
  let drop: () => Promise<void>
  let pair: Pair & { path: string }
  let full: Pair
  let project: { id: string }
  let live: string

  beforeAll(async () => {
    const store = await engine.freshStore()
    drop = store.drop
    service = await startService(store.env, { clock: systemClock })
    project = await service.project('Club')
    pair = await service.key(project.id)
    full = await service.key(project.id, { token_limit: 1 })
    live = (await service.issue(pair)).body.access_token
    await service.issue(full)
  })
  afterAll(async () => {
    await service.stop()
    await drop()
  })

  const credentials = ({ appId, appToken }: Pair): [string, string][] => [
    ['X-App-Id', appId],
    ['X-App-Token', appToken],
  ]

  async function counted(): Promise<number> {
    const text = await (await fetch(`${service.url}/metrics`)).text()
    const counts = [...text.matchAll(/^jeton_http_request_duration_seconds_count\{(.*)\} (\d+)$/gm)]
    return counts
      .filter(([, labels]) => /oauth|gateway/.test(labels!))
      .reduce((sum, [, , count]) => sum + Number(count), 0)
  }

  const issue = { grant_type: 'client_credentials', scope: 'vouchers' }
  const forms: [string, string, () => Record<string, string>, () => [string, string][]][] = [
    ['a token is issued', '/v1/oauth/token', () => issue, () => credentials(pair)],
    ['a token is active', '/v1/oauth/introspect', () => ({ token: live }), () => credentials(pair)],
    ['one is not', '/oauth/introspect', () => ({ token: madeUpToken(project.id) }), () => credentials(pair)],
    [
      'by a bearer',
      '/v1/oauth/introspect',
      () => ({ token: live }),
      () => [['Authorization', `Bearer ${live}`]],
    ],
    ['nobody asks', '/v1/oauth/introspect', () => ({ token: live }), () => []],
    [
      'the secret is wrong',
      '/v1/oauth/token',
      () => issue,
      () => credentials({ ...pair, appToken: 'jta_x' }),
    ],
    ['the scope is unknown', '/v1/oauth/token', () => ({ ...issue, scope: 'x' }), () => credentials(pair)],
    ['nothing is asked', '/v1/oauth/introspect', () => ({}), () => credentials(pair)],
    [
      'a header comes twice',
      '/v1/oauth/token',
      () => issue,
      () => [
        ['Authorization', 'x'],
        ['Authorization', 'y'],
      ],
    ],
    [
      'an Authorization that cannot be read comes beside a pair',
      '/v1/oauth/token',
      () => issue,
      () => [...credentials(pair), ['Authorization', 'Digest x']],
    ],
    ['the limit is reached', '/v1/oauth/token', () => issue, () => credentials(full)],
  ]

  describe('quickly or the long way, the answer is the same', () => {
    test.each(forms)('where %s', async (_, path, fields, headers) => {
      const body = new URLSearchParams(fields()).toString()
      const before = await counted()
      const answers: Answer[] = []
      for (const type of [QUICK, `${QUICK};charset=UTF-8`, LONG])
        answers.push(
          await rawRequest(service.url, { path, headers: [['Content-Type', type], ...headers()], body }),
        )
      const [quick, alike, long] = answers.map((answer) => settled(JSON.stringify(shown(answer))))
      expect([alike, long]).toEqual([quick, quick])
      expect(await counted()).toBe(before + 3)
    })

    test.each([
      [
        'allowed',
        () => [
          ['Authorization', `Bearer ${live}`],
          ['X-Original-URI', '/v1/vouchers/x'],
        ],
      ],
      [
        'of another scope',
        () => [
          ['Authorization', `Bearer ${live}`],
          ['X-Original-URI', '/v1/rewards'],
        ],
      ],
      ['of nobody', () => [['X-Original-URI', '/v1/vouchers/x']]],
      [
        'by a trick',
        () => [
          ['Authorization', `Bearer ${live}`],
          ['X-Original-URI', '/v1//vouchers'],
        ],
      ],
    ] as [string, () => [string, string][]][])('where a call %s comes to the gateway', async (_, headers) => {
      const before = await counted()
      const ask = (method: string, path: string) =>
        rawRequest(service.url, { method, path, headers: headers() })
      const quick = shown(await ask('GET', '/gateway/authorize'))
      expect(shown(await ask('GET', '/gateway/authorize?'))).toEqual(quick)
      expect(shown(await ask('PATCH', '/gateway/authorize'))).toEqual(quick)
      expect(await counted()).toBe(before + 3)
    })
  })

  test('a form that comes in pieces, is too long or cannot be read is answered as ever', async () => {
    const ask = (body: string | ReadableStream) =>
      send(`${service.url}/v1/oauth/introspect`, {
        method: 'POST',
        headers: { 'content-type': QUICK, ...Object.fromEntries(credentials(pair)) },
        body,
        duplex: 'half',
      } as RequestInit)
    const pieces = ['tok', 'en=', live].map((text) => Buffer.from(text))
    expect((await ask(ReadableStream.from(pieces))).body.active).toBe(true)
    expect((await ask(`token=${live}&x=${'x'.repeat(16 * 1024)}`)).status).toBe(413)
    expect((await ask(`token=${live}&x=%zz`)).status).toBe(400)
    expect((await ask('')).body.key).toBe('missing_parameters')
  })
})
