import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { newFolder } from '../command-line.ts'
import { madeUpToken } from '../made-up-token.ts'
import { type Pair, send, startService, type TestService } from '../service.ts'

const FORM = 'application/x-www-form-urlencoded'
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const ISSUE = { grant_type: 'client_credentials', scope: 'vouchers' }

let folder: string
/** The same store behind both: with the fast path and without it. */
let withFastPath: TestService
let withoutFastPath: TestService
let pair: Pair
let full: Pair
let projectId: string
let live: string

beforeAll(async () => {
  folder = newFolder('fast-path')
  const start = (setting: string) =>
    startService(
      { JETON_DATA_DIR: folder, JETON_PUBLIC_URL: 'https://jeton.example', JETON_FAST_PATH: setting },
      { clock: systemClock, worker: false },
    )
  withFastPath = await start('on')
  withoutFastPath = await start('off')
  projectId = (await withFastPath.project('Club')).id
  pair = await withFastPath.key(projectId)
  full = await withFastPath.key(projectId, { token_limit: 1 })
  live = (await withFastPath.issue(pair)).body.access_token
  await withFastPath.issue(full)
})
afterAll(() => Promise.all([withFastPath.stop(), withoutFastPath.stop()]))

/** The ports of the requests that Node's HTTP server has parsed. */
let parsedByNode: number[] = []
const onRequest = (message: unknown) =>
  parsedByNode.push((message as { request: IncomingMessage }).request.socket.localPort!)
beforeEach(() => {
  parsedByNode = []
  subscribe('http.server.request.start', onRequest)
})
afterEach(() => void unsubscribe('http.server.request.start', onRequest))

interface Request {
  readonly method?: string
  readonly path: string
  readonly headers?: readonly (readonly [string, string])[]
  readonly fields?: Readonly<Record<string, string>>
}

function bytesOf({ method = 'POST', path, headers = [], fields }: Request, connection: string): string {
  const body = fields ? new URLSearchParams(fields).toString() : ''
  const ofBody = fields
    ? [['Content-Type', FORM] as const, ['Content-Length', String(body.length)] as const]
    : []
  const all = [['Host', 'jeton.example'], ['Connection', connection], ...headers, ...ofBody]
  return `${method} ${path} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
}

/** Sends the bytes and reads one response. */
async function exchange(url: string, bytes: string): Promise<string> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' })
  let text = ''
  socket.on('data', (chunk) => (text += chunk))
  socket.write(bytes)
  const isWhole = () => {
    const [head = '', body] = text.split('\r\n\r\n')
    return body !== undefined && Buffer.byteLength(body) >= Number(/content-length: (\d+)/.exec(head)?.[1])
  }
  while (!isWhole()) await once(socket, 'data')
  socket.destroy()
  return text
}

/** Leaves out date, request id and token, and the seconds that pass between two requests. */
const comparable = (response: string): string =>
  response
    .replace(/^Date: .*$/m, 'Date: …')
    .replaceAll(/v-[0-9a-f]{18}|jtn_[\w-]+/g, '…')
    .replaceAll(/expires_(in|at)\\?":\d+|expires in \d+ s|(retry-after|x-jeton-expires-in): \d+/g, '…')

async function expectSameBytes(request: Request): Promise<void> {
  for (const connection of ['keep-alive', 'close']) {
    const bytes = bytesOf(request, connection)
    const fast = await exchange(withFastPath.url, bytes)
    expect(parsedByNode).toEqual([])
    const reference = await exchange(withoutFastPath.url, bytes)
    expect(parsedByNode).toEqual([Number(new URL(withoutFastPath.url).port)])
    expect(fast).toMatch(/^HTTP\/1\.1 \d{3} /)
    expect(comparable(fast)).toBe(comparable(reference))
    parsedByNode = []
  }
}

const credentials = ({ appId, appToken }: Pair): [string, string][] => [
  ['X-App-Id', appId],
  ['X-App-Token', appToken],
]
const bearer = (): [string, string] => ['Authorization', `Bearer ${live}`]

describe('with and without the fast path the response has the same bytes', () => {
  const cases: [string, () => Request][] = [
    ['a token is issued', () => ({ path: '/v1/oauth/token', fields: ISSUE, headers: credentials(pair) })],
    [
      'the request carries a trace',
      () => ({
        path: '/v1/oauth/token',
        fields: ISSUE,
        headers: [...credentials(pair), ['traceparent', TRACEPARENT]],
      }),
    ],
    [
      'the secret is wrong',
      () => ({
        path: '/v1/oauth/token',
        fields: ISSUE,
        headers: credentials({ ...pair, appToken: 'jta_x' }),
      }),
    ],
    [
      'the scope is unknown',
      () => ({ path: '/v1/oauth/token', fields: { ...ISSUE, scope: 'é' }, headers: credentials(pair) }),
    ],
    ['the limit is reached', () => ({ path: '/v1/oauth/token', fields: ISSUE, headers: credentials(full) })],
    [
      'a second credential cannot be read',
      () => ({
        path: '/v1/oauth/token',
        fields: ISSUE,
        headers: [...credentials(pair), ['Authorization', 'Digest x']],
      }),
    ],
    [
      'a token is active',
      () => ({ path: '/v1/oauth/introspect', fields: { token: live }, headers: credentials(pair) }),
    ],
    [
      'a token is not active',
      () => ({
        path: '/oauth/introspect',
        fields: { token: madeUpToken(projectId) },
        headers: credentials(pair),
      }),
    ],
    [
      'a bearer introspects itself',
      () => ({ path: '/v1/oauth/introspect', fields: { token: live }, headers: [bearer()] }),
    ],
    ['no credential is sent', () => ({ path: '/v1/oauth/introspect', fields: { token: live } })],
    ['no token is sent', () => ({ path: '/v1/oauth/introspect', fields: {}, headers: credentials(pair) })],
    [
      'the gateway allows a call',
      () => ({
        method: 'GET',
        path: '/gateway/authorize',
        headers: [bearer(), ['X-Original-URI', '/v1/vouchers/x']],
      }),
    ],
    [
      'the gateway allows a key pair',
      () => ({
        method: 'GET',
        path: '/gateway/authorize',
        headers: [...credentials(pair), ['X-Original-URI', '/v1/vouchers/x']],
      }),
    ],
    [
      'the gateway allows a call by another method',
      () => ({
        method: 'PATCH',
        path: '/gateway/authorize',
        headers: [bearer(), ['X-Original-URI', '/v1/vouchers/x']],
      }),
    ],
    [
      'the gateway refuses another scope',
      () => ({
        method: 'GET',
        path: '/gateway/authorize',
        headers: [bearer(), ['X-Original-URI', '/v1/rewards']],
      }),
    ],
    [
      'the gateway gets no credential',
      () => ({ method: 'GET', path: '/gateway/authorize', headers: [['X-Original-URI', '/v1/vouchers']] }),
    ],
    [
      'the gateway refuses an ambiguous path',
      () => ({
        method: 'GET',
        path: '/gateway/authorize',
        headers: [bearer(), ['X-Original-URI', '/v1//vouchers']],
      }),
    ],
  ]
  test.each(cases)('the fast path returns the same bytes as Fastify if %s', (_, request) =>
    expectSameBytes(request()),
  )
})

test('requests of the fast path are counted once and in the same series', async () => {
  const count = async ({ url }: TestService) => {
    const { text } = await send(`${url}/metrics`)
    const [, found = '0'] =
      /^jeton_http_request_duration_seconds_count\{method="POST",route="\/v1\/oauth\/introspect",status="200"\} (\d+)$/m.exec(
        text,
      ) ?? []
    return Number(found)
  }
  for (const service of [withFastPath, withoutFastPath]) {
    const before = await count(service)
    await service.introspect(pair, live)
    expect(await count(service)).toBe(before + 1)
  }
})

test.each([
  ['a query', { method: 'GET', path: '/gateway/authorize?scope=vouchers', headers: [] }],
  [
    'a quoted charset',
    { path: '/v1/oauth/introspect', headers: [['Content-Type', `${FORM}; charset="utf-8"`]] },
  ],
  ['a malformed form', { path: '/v1/oauth/introspect', fields: { token: '\0' } }],
  ['a route without a fast handler', { method: 'GET', path: '/health/live' }],
] as [string, Request][])('the fast path leaves a request to Node: %s', async (_, request) => {
  await exchange(withFastPath.url, bytesOf(request, 'close'))
  expect(parsedByNode).toEqual([Number(new URL(withFastPath.url).port)])
})

test('a form that is chunked, too large or malformed is answered through Fastify', async () => {
  const introspect = (body: string | ReadableStream) =>
    send(`${withFastPath.url}/v1/oauth/introspect`, {
      method: 'POST',
      headers: { 'content-type': FORM, ...Object.fromEntries(credentials(pair)) },
      body,
      duplex: 'half',
    } as RequestInit)
  const pieces = ['tok', 'en=', live].map((text) => Buffer.from(text))
  expect((await introspect(ReadableStream.from(pieces))).body.active).toBe(true)
  expect((await introspect(`token=${live}&x=${'x'.repeat(16 * 1024)}`)).status).toBe(413)
  expect((await introspect(`token=${live}&x=%zz`)).status).toBe(400)
  expect((await introspect('')).body.key).toBe('missing_parameters')
})
