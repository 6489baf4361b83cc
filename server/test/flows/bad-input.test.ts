import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ERRORS } from '../../src/contract/error-keys.ts'
import { capturedLog } from '../captured-log.ts'
import { eachEngine } from '../engines.ts'
import { type RawAnswer, sendBytes, sendRaw } from '../raw-http.ts'
import { OPERATOR } from '../service.ts'
import { everythingIn, startTimedService, type TimedService } from '../timed-service.ts'

/** Fields of every error, and fields of some errors. There are no others. */
const ALWAYS = ['code', 'doc_url', 'key', 'message', 'request_id']
const SOMETIMES = ['details', 'resource_id', 'resource_type']
const OAUTH = ['error', 'error_description']

/** Stack traces, SQL, the framework, the engines, paths of files. */
const INTERNALS =
  /\n\s+at |node_modules|file:\/\/|\.ts\b|\.js\b|FST_|ERR_|HPE_|SQLITE|SQLSTATE|kysely|fastify|postgres|syntax error|constraint|\/(home|tmp|root|usr)\//i

function expectErrorBody(answer: RawAnswer, { oauth = false } = {}): void {
  const { status, headers, body, text } = answer
  expect(text, 'a JSON body').toMatch(/^\{.*\}$/s)
  const fields = Object.keys(body)
  expect(fields, 'the fields of every error').toEqual(
    expect.arrayContaining(oauth ? [...ALWAYS, ...OAUTH] : ALWAYS),
  )
  expect([...ALWAYS, ...SOMETIMES, ...(oauth ? OAUTH : [])], 'no other field').toEqual(
    expect.arrayContaining(fields),
  )
  expect(Object.hasOwn(ERRORS, body.key), body.key).toBe(true)
  expect([body.code, ERRORS[body.key as keyof typeof ERRORS].status]).toEqual([status, status])
  expect(body.message).toMatch(/\w{3}.*\.|\?$/s)
  expect(body.doc_url).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:\\d+/docs/errors/${body.key}$`))
  expect(body.request_id).toMatch(/^v-[0-9a-f]{18}$/)
  expect(headers['x-request-id'], 'X-Request-Id').toBe(body.request_id)
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(text).not.toMatch(INTERNALS)
}

interface BadRequest {
  readonly method?: string
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
}

interface Case extends BadRequest {
  readonly name: string
  readonly status: number
  /** A word that the answer has: what is wrong, or what to do. */
  readonly says: string | RegExp
  readonly oauth?: boolean
}

const M = '/management/v1'
const JSON_TYPE = { 'content-type': 'application/json' }
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' }
const projects = (name: string, body: string | Buffer, says: Case['says'], status = 400): Case => ({
  name,
  method: 'POST',
  path: `${M}/projects`,
  headers: JSON_TYPE,
  body,
  status,
  says,
})
const get = (name: string, path: string, status: number, says: Case['says']): Case => ({
  name,
  path: `${M}${path}`,
  status,
  says,
})
const deep = (levels: number) => `{"name":${'['.repeat(levels)}${']'.repeat(levels)}}`
const latin1 = (text: string) => Buffer.from(text, 'latin1')

const BODIES: Case[] = [
  projects('no body', '', 'name is missing'),
  projects('malformed JSON', '{"name":"x"', 'position 11'),
  projects('JSON with a trailing comma', '{"name":"x",}', 'character'),
  projects('JSON with single quotes', "{'name':'x'}", 'not valid JSON'),
  projects('two JSON values', '{"name":"x"}{"name":"y"}', 'not valid JSON'),
  projects('only white space', '   ', 'not valid JSON'),
  projects('a byte order mark alone', Buffer.from([0xef, 0xbb, 0xbf]), 'JSON'),
  projects('null', 'null', 'object'),
  projects('a number', '7', 'object'),
  projects('a text', '"x"', 'object'),
  projects('a list', '[]', 'object'),
  projects('a list of what would be right', '[{"name":"x"}]', 'object'),
  projects('a name that is a number', '{"name":5}', 'name must be text'),
  projects('a name that is null', '{"name":null}', 'name must be text'),
  projects('a name that is true', '{"name":true}', 'name must be text'),
  projects('a name that is a list', '{"name":["x"]}', 'name must be text'),
  projects('a name that is an object', '{"name":{"toString":"x"}}', 'name must be text'),
  projects('an empty name', '{"name":""}', '1 to 100'),
  projects('a blank name', '{"name":"   "}', 'not blank'),
  projects('a name of 101 characters', `{"name":"${'x'.repeat(101)}"}`, '1 to 100'),
  projects('a name of 10,000 characters', `{"name":"${'x'.repeat(10_000)}"}`, '1 to 100'),
  projects('a name with a line end', '{"name":"a\\nb"}', 'control'),
  projects('a name with an escape character', '{"name":"a\\u001b[2Jb"}', 'control'),
  projects('a null byte in a name', '{"name":"a\\u0000b"}', /null character/),
  projects('a raw null byte', Buffer.from('{"name":"a\0b"}'), 'not valid JSON'),
  projects('a null byte in a field name', '{"name":"x","a\\u0000":1}', /null character/),
  projects('a lone surrogate', '{"name":"\\ud800"}', 'surrogate'),
  projects('a lone low surrogate', '{"name":"x\\uDFFFy"}', 'surrogate'),
  projects(
    'a lone surrogate in bytes',
    Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
    'UTF-8',
  ),
  projects('invalid UTF-8', latin1('{"name":"caf\xe9"}'), 'UTF-8'),
  projects(
    'overlong UTF-8',
    Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xc0, 0x80]), Buffer.from('"}')]),
    'UTF-8',
  ),
  projects('UTF-16', Buffer.from('{"name":"x"}', 'utf16le'), 'JSON'),
  projects('an unknown field', '{"name":"x","nmae":"y"}', 'nmae'),
  projects('a misspelt field', '{"nmae":"x"}', 'name'),
  projects('__proto__', '{"name":"x","__proto__":{"admin":true}}', '__proto__'),
  projects('__proto__ in escapes', '{"name":"x","\\u005f_proto__":{"admin":true}}', '__proto__'),
  projects('constructor', '{"name":"x","constructor":{"prototype":{"admin":true}}}', 'constructor'),
  projects(
    'what the server itself sets',
    '{"name":"x","id":"proj_0000000000000000","token_limit":100000}',
    'not a field',
  ),
  projects('nesting 10,000 deep', deep(10_000), /text|deep/),
  projects(
    'nesting 10,000 deep with an escape',
    deep(10_000).replace('{', '{"a":"\\u0000",'),
    /deep|null character/,
  ),
  projects('a body of 2 MB', `{"name":"${'x'.repeat(2 * 1024 * 1024)}"}`, '1 MB', 413),
  {
    ...projects('2 MB that are only promised', '', '1 MB', 413),
    headers: { ...JSON_TYPE, 'content-length': String(2 * 1024 * 1024) },
  },
  { ...projects('no media type', '{"name":"x"}', 'application/json', 415), headers: {} },
  {
    ...projects('a text', '{"name":"x"}', 'application/json', 415),
    headers: { 'content-type': 'text/plain' },
  },
  { ...projects('a form', 'name=x', 'application/json', 415), headers: FORM_TYPE },
  {
    ...projects('XML', '<name>x</name>', 'application/json', 415),
    headers: { 'content-type': 'application/xml' },
  },
  {
    ...projects('a media type that is none', '{"name":"x"}', 'application/json', 415),
    headers: { 'content-type': 'json' },
  },
  {
    ...projects('a multipart form', '--x--', 'application/json', 415),
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
  },
]

const PATHS: Case[] = [
  get('an unknown path', '/project', 404, 'GET'),
  get('a trailing slash', '/projects/', 404, /Not found/),
  get('another case', '/Projects', 404, '/docs'),
  get('a path that climbs', '/projects/../operators/x/y', 404, 'Not found: '),
  get('an encoded slash', '/projects/a%2fb', 404, 'Not found: project'),
  get('a null byte in the path', '/projects/%00', 400, 'control'),
  get('a line end in the path', '/projects/a%0d%0ab', 400, 'control'),
  get('a lone surrogate in the path', '/projects/%ed%a0%80', 400, 'percent-encoding'),
  get('bad percent-encoding in the path', '/projects/%zz', 400, 'percent-encoding'),
  get('half an escape in the path', '/projects/%e', 400, 'percent-encoding'),
  get('invalid UTF-8 in the path', '/projects/%ff%fe', 400, 'percent-encoding'),
  get('an unknown id', '/projects/proj_0000000000000000', 404, 'proj_0000000000000000'),
  get('an id of another kind', '/projects/key_0000000000000000', 404, 'Not found: project'),
  get('__proto__ as an id', '/projects/__proto__', 404, 'Not found: project'),
  get('an id with a quote', "/projects/x'%20or%20'1'='1", 404, 'Not found: project'),
  get('an id with a wildcard', '/projects/proj_%25', 404, 'Not found: project'),
  get('an id of 10,000 characters', `/projects/${'x'.repeat(10_000)}`, 404, /Not found/),
  get('an operator of 299 characters', `/operators/${'x'.repeat(299)}`, 404, 'Not found: operator'),
  get('a request id that is none', '/refusals/%00', 400, 'control'),
  { ...get('a path in latin1', '/projects/caf\xe9', 400, /HTTP|percent-encoding|Not found/) },
  { ...get('an absolute address', '', 404, 'Not found: '), path: 'http://example.com/nowhere' },
]

const QUERIES: Case[] = [
  ...['0', '-1', '101', '1e9', '1.5', '99999999999999999999', 'ten', '', 'NaN', 'Infinity', '1,2'].map(
    (limit) => get(`limit=${limit}`, `/projects?limit=${limit}`, 400, 'limit must be'),
  ),
  ...['0', '-1', '2.5', '1000001', '1e400', 'last', '0x'].map((page) =>
    get(`page=${page}`, `/projects?page=${page}`, 400, 'page must be'),
  ),
  get('limit twice', '/projects?limit=1&limit=2', 400, 'limit must be'),
  get('limit as a list', '/projects?limit[]=1', 400, 'not a field'),
  get('an unknown parameter', '/projects?limt=5', 400, 'Did you mean'),
  get('__proto__ as a parameter', '/projects?__proto__=1', 400, 'not a field'),
  get('a null byte in the query', '/projects?name=%00', 400, 'control'),
  get('a name filter of 10,000 characters', `/projects?name=${'x'.repeat(10_000)}`, 400, 'at most 100'),
  get('a state that is none', '/projects/proj_x/api-keys?state=dead', 400, 'active, blocked, deleted'),
  get('a cursor where there is none', '/projects?cursor=x', 400, 'not a field'),
  ...['', 'x', '!!!', 'MTIz', '%00', '1.2.3', '-1.aud_x'].map((cursor) =>
    get(`cursor=${cursor}`, `/audit-log?cursor=${cursor}`, 400, 'next_cursor'),
  ),
  get(
    'a cursor with SQL in it',
    `/audit-log?cursor=${encodeURIComponent("1.x' or 1=1")}`,
    400,
    'next_cursor',
  ),
  get('a cursor of 10,000 characters', `/audit-log?cursor=${'x'.repeat(10_000)}`, 400, 'next_cursor'),
  ...[
    'yesterday',
    '2026-13-01',
    '2026-02-30T99:00:00Z',
    '2026-02-30',
    '2027-02-29',
    '2026-04-31T10:00:00Z',
    '1700000000',
    '2026-01-01T00:00:00',
    '%00',
  ].map((time) => get(`from=${time}`, `/audit-log?from=${time}`, 400, 'from must be a time')),
  get('a to that is none', '/audit-log?to=now', 400, 'to must be a time'),
  get('an action with a null byte', '/audit-log?action=a%00b', 400, 'control'),
  get('bad percent-encoding in the query', '/projects?name=%zz', 400, 'percent-encoding'),
  get('invalid UTF-8 in the query', '/projects?name=%ff', 400, 'percent-encoding'),
  get('a lone surrogate in the query', '/projects?name=%ed%a0%80', 400, 'percent-encoding'),
]

const METHODS: Case[] = [
  ...['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'].map((method): Case => {
    return { name: `${method} of a list`, method, path: `${M}/projects`, status: 405, says: 'GET or POST' }
  }),
  { name: 'GET of a verb', path: `${M}/projects/p/api-keys/k/block`, status: 405, says: 'POST' },
  { name: 'GET of the token endpoint', path: '/v1/oauth/token', status: 405, says: 'POST', oauth: true },
  {
    name: 'a wrong method with a body that is none',
    method: 'PUT',
    path: `${M}/projects`,
    headers: { 'content-type': 'x/y' },
    body: '\0',
    status: 405,
    says: 'GET or POST',
  },
  {
    name: 'a body of no kind to an unknown path',
    method: 'POST',
    path: '/nowhere',
    headers: { 'content-type': 'x/y' },
    body: '\0',
    status: 404,
    says: 'Not found: ',
  },
  {
    name: '2 MB to an unknown path',
    method: 'POST',
    path: '/nowhere',
    headers: JSON_TYPE,
    body: 'x'.repeat(2 * 1024 * 1024),
    status: 404,
    says: 'Not found: ',
  },
  {
    name: 'malformed JSON to an unknown path',
    method: 'POST',
    path: '/nowhere',
    headers: JSON_TYPE,
    body: '{',
    status: 404,
    says: 'Not found: ',
  },
]

const token = (
  name: string,
  body: string | Buffer,
  status: number,
  says: Case['says'],
  headers = FORM_TYPE,
): Case => ({
  name: `a form with ${name}`,
  method: 'POST',
  path: '/v1/oauth/token',
  headers,
  body,
  status,
  says,
  oauth: true,
})

const FORMS: Case[] = [
  token('bad percent-encoding', 'grant_type=%zz', 400, 'percent-encoding'),
  token('invalid UTF-8', latin1('scope=\xff'), 400, 'UTF-8'),
  token('invalid UTF-8 in escapes', 'scope=%ff', 400, 'percent-encoding'),
  token('a lone surrogate', 'scope=%ed%a0%80', 400, 'percent-encoding'),
  token('a null byte', 'scope=a%00b', 400, 'null character'),
  token('a raw null byte', Buffer.from('scope=a\0b'), 400, 'null character'),
  token('a field twice', 'scope=api&scope=api', 400, 'more than once'),
  token('17 KB', `scope=${'x'.repeat(17 * 1024)}`, 413, '16 KB'),
  token(
    'a credential that is none',
    'grant_type=client_credentials&scope=api&client_id=%22%27&client_secret=x',
    401,
    'not accepted',
  ),
  token('JSON instead', '{"grant_type":"client_credentials"}', 415, 'form', JSON_TYPE),
  token('no media type', 'grant_type=client_credentials', 415, 'form', {} as never),
]

eachEngine((engine) => {
  const { log, text: logged, clear } = capturedLog({ level: 'warn' })
  let service: TimedService
  let stored: Record<string, string[]>
  let projectId: string
  let key: { id: string; path: string }

  beforeAll(async () => {
    service = await startTimedService(engine, { log })
    projectId = (await service.project('Kept')).id
    key = await service.key(projectId)
    stored = await contents()
  })
  afterAll(() => service.stop())
  beforeEach(clear)

  /** Refusals are recorded by design. Everything else must stay unchanged. */
  async function contents() {
    const { refusals: _, ...rest } = await everythingIn(service.service.db)
    return rest
  }

  const operator = { 'x-management-id': OPERATOR.id, 'x-management-token': OPERATOR.token }
  const ask = ({ headers, ...request }: BadRequest) =>
    sendRaw(service.url, { ...request, headers: { ...operator, ...headers } })

  async function expectNothingHappened(): Promise<void> {
    expect(await contents()).toEqual(stored)
    expect(logged()).toBe('')
  }

  test.each([...BODIES, ...PATHS, ...QUERIES, ...METHODS, ...FORMS])(
    '$name gets $status with a message, and nothing is stored',
    async ({ status, says, oauth, ...request }) => {
      const answer = await ask(request)
      expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(says)])
      expectErrorBody(answer, { oauth: oauth === true })
      if (status === 405)
        expect(answer.headers.allow).toBe(
          answer.body.details.replace('Use ', '').replace('.', '').replace(' or ', ', '),
        )
      await expectNothingHappened()
    },
  )

  const CHANGES: [string, string, (body: object) => BadRequest][] = [
    ['a key that is created', 'POST', () => ({ path: `${M}/projects/${projectId}/api-keys` })],
    ['a key that is changed', 'PATCH', () => ({ path: M + key.path })],
    ['a key that is deleted', 'DELETE', () => ({ path: M + key.path })],
    ...['block', 'unblock', 'revoke-tokens', 'regenerate'].map((verb): (typeof CHANGES)[number] => {
      return [`a key, by ${verb}`, 'POST', () => ({ path: `${M}${key.path}/${verb}` })]
    }),
    ['a project that is renamed', 'PATCH', () => ({ path: `${M}/projects/${projectId}` })],
    ['a project that is deleted', 'DELETE', () => ({ path: `${M}/projects/${projectId}` })],
    ['an operator that is created', 'POST', () => ({ path: `${M}/operators` })],
    ['an operator that is regenerated', 'POST', () => ({ path: `${M}/operators/${OPERATOR.id}/regenerate` })],
    ['an operator that is deleted', 'DELETE', () => ({ path: `${M}/operators/${OPERATOR.id}` })],
  ]
  test.each(CHANGES)(
    'an unknown field, a wrong type or malformed JSON for %s is refused, and nothing is changed',
    async (_, method, request) => {
      for (const body of [
        '{"force":true}',
        '[]',
        '"x"',
        '{"name":1}',
        '{',
        '{"name":"x","force":true}',
        '{"__proto__":{}}',
      ]) {
        const answer = await ask({ ...request({}), method, headers: JSON_TYPE, body })
        expect([answer.status, body]).toEqual([400, body])
        expectErrorBody(answer)
      }
      await expectNothingHappened()
    },
  )

  const BROKEN: [string, string | Buffer, number][] = [
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['a TLS greeting', Buffer.from('16030100a5010000a10303', 'hex'), 400],
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n', 400],
    ['HTTP/2 without being asked', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['a null byte in the path', `GET ${M}/projects/\0 HTTP/1.1\r\nhost: x\r\n\r\n`, 400],
    ['a space in the path', `GET ${M}/a b HTTP/1.1\r\nhost: x\r\n\r\n`, 400],
    ['a null byte in a header', 'GET / HTTP/1.1\r\nhost: x\r\nx-app-id: a\0b\r\n\r\n', 400],
    ['a header without a colon', 'GET / HTTP/1.1\r\nhost: x\r\nnonsense\r\n\r\n', 400],
    ['no host', 'GET /health/live HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
    ['a length that is none', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ten\r\n\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx', 400],
    [
      'length and chunks together',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    [
      'a chunk that is none',
      `POST ${M}/projects HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`,
      400,
    ],
    [
      'an expectation that is none',
      `POST ${M}/projects HTTP/1.1\r\nhost: x\r\nconnection: close\r\nexpect: coffee\r\ncontent-length: 0\r\n\r\n`,
      401,
    ],
    ['headers of 20 KB', `GET / HTTP/1.1\r\nhost: x\r\nx-app-id: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['5,000 headers', `GET / HTTP/1.1\r\nhost: x\r\n${'a: b\r\n'.repeat(5_000)}\r\n`, 431],
    ['a path of 20 KB', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431],
  ]
  test.each(BROKEN)('%s on the socket gets a response like any other error', async (_, bytes, status) => {
    const answer = await sendBytes(service.url, bytes)
    expect([answer.status, answer.text]).toEqual([status, expect.any(String)])
    expectErrorBody(answer)
    await expectNothingHappened()
  })

  test('a chunked body of 2 MB is refused', async () => {
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    const head = Object.entries({
      host: 'x',
      connection: 'close',
      ...operator,
      ...JSON_TYPE,
      'transfer-encoding': 'chunked',
    }).map(([n, v]) => `${n}: ${v}\r\n`)
    const answer = await sendBytes(
      service.url,
      `POST ${M}/projects HTTP/1.1\r\n${head.join('')}\r\n${chunk.repeat(32)}0\r\n\r\n`,
    )
    expect(answer.status).toBe(413)
    expectErrorBody(answer)
    await expectNothingHappened()
  })

  test('a caller cannot choose its request id', async () => {
    const answer = await ask({ path: `${M}/projects/x`, headers: { 'x-request-id': 'v-000000000000000000' } })
    expectErrorBody(answer)
    expect(answer.body.request_id).not.toBe('v-000000000000000000')
  })

  test('a response never repeats a credential that was sent in the wrong place', async () => {
    const issued = await service.key((await service.project('Echo')).id)
    const access = (await service.issue({ appId: issued.app_id, appToken: issued.app_token })).body
      .access_token
    for (const secret of [issued.app_token, access]) {
      const places: BadRequest[] = [
        { path: `/${secret}` },
        { path: `${M}/projects/${secret}` },
        { path: `${M}/refusals/${secret}` },
        { path: `${M}/projects?${secret}=1` },
        {
          path: `${M}/projects`,
          method: 'POST',
          headers: JSON_TYPE,
          body: JSON.stringify({ [secret]: 'x' }),
        },
        { path: `${M}/projects`, method: 'POST', headers: JSON_TYPE, body: `{"name":"${secret}` },
        {
          path: '/v1/oauth/token',
          method: 'POST',
          headers: FORM_TYPE,
          body: `grant_type=${secret}&client_id=${issued.app_id}&client_secret=${issued.app_token}`,
        },
        {
          path: '/v1/oauth/token',
          method: 'POST',
          headers: FORM_TYPE,
          body: `grant_type=client_credentials&scope=${secret}&client_id=${issued.app_id}&client_secret=${issued.app_token}`,
        },
      ]
      for (const place of places) {
        const answer = await ask(place)
        expect(answer.status, place.path).toBeGreaterThanOrEqual(400)
        expect(answer.text.includes(secret.slice(6, 40)), `${place.path}: ${answer.text}`).toBe(false)
      }
    }
  })
})
