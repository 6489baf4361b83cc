import type { Random } from '../faults/random.ts'
import { type FuzzRoute, ROUTES } from './routes.ts'
import { broken, fittingValue, formBytes, hostileValue, type Ids, jsonBytes } from './values.ts'

export type Caller = 'operator' | 'pair' | 'bearer' | 'nobody'

/** Bytes to send, and the responses that are allowed. */
export interface Case {
  readonly kind: string
  readonly bytes: Buffer
  readonly caller: Caller
  /** The number of responses; undefined is at most one, or a closed connection. */
  readonly answers?: number
  readonly isHead?: boolean
  /** The client closes its side after sending. */
  readonly finish?: boolean
  /** The client resets the connection before a response can arrive. */
  readonly vanish?: boolean
}

export interface Stock {
  readonly random: Random
  /** Ids that this caller may use: for an operator never those of the project that must not change. */
  ids(caller: Caller): Ids
  credentials(caller: Caller): Readonly<Record<string, string>>
}

interface Draft {
  method: string
  path: string
  headers: [string, string][]
  body: Buffer | undefined
}

const ODD_METHODS = ['HEAD', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND', 'get', 'PATCH', 'M-SEARCH', 'QUERY']

const raw = ({ method, path, headers, body }: Draft): Buffer =>
  Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\n`, 'utf8'),
    Buffer.from(headers.map(([name, value]) => `${name}: ${value}\r\n`).join(''), 'latin1'),
    Buffer.from('\r\n'),
    body ?? Buffer.alloc(0),
  ])

export function makeCase(stock: Stock): Case {
  const { random } = stock
  return random.weighted<() => Case>([
    [12, () => fitting(stock)],
    [45, () => brokenFields(stock)],
    [10, () => trickyPath(stock)],
    [10, () => trickyHeaders(stock)],
    [4, () => oddMethod(stock)],
    [5, () => truncated(stock)],
    [6, () => smuggled(stock)],
    [4, () => pipelined(stock)],
    [2, () => garbage(stock)],
  ])()
}

function callerFor(route: FuzzRoute, random: Random): Caller {
  if (random.chance(0.06)) return random.pick<Caller>(['operator', 'pair', 'bearer', 'nobody'])
  if (route.takes === 'operator') return 'operator'
  return route.takes === 'key' ? random.pick<Caller>(['pair', 'bearer']) : 'nobody'
}

function pathOf(route: FuzzRoute, stock: Stock, caller: Caller): string {
  const ids = stock.ids(caller)
  return route.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(ids.for(name) ?? 'unknown'))
}

function queryOf(route: FuzzRoute, { random }: Stock, hostile: boolean): string {
  const pairs = route.query
    .filter(() => random.chance(0.3))
    .map(({ name, schema }) => {
      const value = hostile
        ? hostileValue(random)
        : fittingValue(schema, random, { ids: { for: () => undefined }, name })
      return `${name}=${encodeURIComponent(String(value).toWellFormed().slice(0, 2_000))}`
    })
  return pairs.length > 0 ? `?${pairs.join('&')}` : ''
}

function draftFor(route: FuzzRoute, stock: Stock, hostile: boolean): { draft: Draft; caller: Caller } {
  const { random } = stock
  const caller = callerFor(route, random)
  const headers: [string, string][] = [['Host', '127.0.0.1'], ...Object.entries(stock.credentials(caller))]
  let body: Buffer | undefined
  if (route.body) {
    const fits = fittingValue(route.body.schema, random, { ids: stock.ids(caller), name: 'body' })
    const value = hostile ? broken(fits, random) : fits
    const isForm = route.body.type.includes('form')
    const plain = () =>
      Buffer.from(isForm ? new URLSearchParams(value as never).toString() : JSON.stringify(value))
    body = hostile ? (isForm ? formBytes : jsonBytes)(value, random) : plain()
    headers.push(['Content-Type', route.body.type], ['Content-Length', String(body.length)])
  }
  if (/redemption$|balance$/.test(route.path) && random.chance(0.5))
    headers.push(['Idempotency-Key', `fuzz-${random.between(1, 200)}`])
  const path = pathOf(route, stock, caller) + queryOf(route, stock, hostile)
  return { draft: { method: route.method, path, headers, body }, caller }
}

function fitting(stock: Stock): Case {
  const { draft, caller } = draftFor(stock.random.pick(ROUTES), stock, false)
  return { kind: 'fitting', bytes: raw(draft), caller, answers: 1 }
}

function brokenFields(stock: Stock): Case {
  const { draft, caller } = draftFor(stock.random.pick(ROUTES), stock, true)
  return { kind: 'broken fields', bytes: raw(draft), caller, answers: 1 }
}

function trickyPath(stock: Stock): Case {
  const { random } = stock
  const { draft, caller } = draftFor(random.pick(ROUTES), stock, false)
  const [path = '', query = ''] = draft.path.split('?')
  const parts = path.split('/')
  const at = random.between(1, parts.length - 1)
  const put = (text: string) => parts.with(at, text).join('/')
  const full = random.weighted<() => string>([
    [2, () => put('..')],
    [2, () => put('%2e%2e')],
    [2, () => put('%2f')],
    [2, () => put('%00')],
    [2, () => put('%zz')],
    [2, () => put('%ff%fe')],
    [2, () => put('%ed%a0%80')],
    [2, () => put('a'.repeat(random.pick([300, 301, 8_000])))],
    [2, () => put('__proto__')],
    [2, () => put('%F0%9F%98%80')],
    [2, () => `/${path}`],
    [2, () => `${path}/`],
    [2, () => `${path};x=1`],
    [2, () => path.toUpperCase()],
    [2, () => `${path}?${'a=1&'.repeat(random.between(1, 500))}`],
    [2, () => `${path}?limit[]=1&limit=2&__proto__[x]=1`],
    [2, () => `${path}?limit=10&limit=10`],
    [2, () => `http://elsewhere.example${path}`],
    [1, () => '*'],
    [2, () => `${path}#fragment`],
    [2, () => put('\\..\\')],
    [2, () => put('{}')],
    [2, () => put("'")],
  ])()
  const bytes = raw({ ...draft, path: query && !full.includes('?') ? `${full}?${query}` : full })
  return { kind: 'tricky path', bytes, caller, answers: 1 }
}

function trickyHeaders(stock: Stock): Case {
  const { random } = stock
  const { draft, caller } = draftFor(random.pick(ROUTES), stock, random.chance(0.3))
  const without = (name: string) => draft.headers.filter(([one]) => one.toLowerCase() !== name)
  const text = () =>
    String(hostileValue(random))
      .replace(/[^\x20-\x7e\x80-\xff]/g, '?')
      .slice(0, 9_000)
  const headers = random.weighted<() => [string, string][]>([
    [
      2,
      () => [...draft.headers, ...draft.headers.filter(([name]) => !/^(host|content-length)$/i.test(name))],
    ],
    [2, () => [...draft.headers, ['Authorization', `Bearer ${text()}`]]],
    [2, () => [...draft.headers, ['Authorization', `Basic ${Buffer.from(text()).toString('base64')}`]]],
    [2, () => [...draft.headers, ['Authorization', text()]]],
    [
      2,
      () => [
        ...without('content-type'),
        [
          'Content-Type',
          random.pick([
            'text/plain',
            'application/json;charset=utf-16',
            'multipart/form-data; boundary=x',
            '',
            'application/',
            text(),
          ]),
        ],
      ],
    ],
    [
      2,
      () => [...draft.headers, ['Content-Encoding', random.pick(['gzip', 'br', 'deflate', 'identity', 'x'])]],
    ],
    [2, () => [...draft.headers, ['X-Forwarded-For', text()], ['X-Forwarded-Proto', text()]]],
    [2, () => [...draft.headers, ['Idempotency-Key', text()]]],
    [2, () => [...draft.headers, ['X-Original-URI', text()], ['X-Forwarded-Uri', '/v1/vouchers']]],
    [2, () => [...draft.headers, ['Expect', random.pick(['100-continue', 'x'])]]],
    [2, () => [...draft.headers, ['X-App-Id', text()], ['X-App-Token', text()]]],
    [2, () => [...draft.headers, ['X-Management-Id', text()], ['X-Management-Token', text()]]],
    [2, () => [...draft.headers, ['Upgrade', 'websocket'], ['Connection', 'Upgrade']]],
    [2, () => [...draft.headers, ['Accept', text()], ['Cookie', text()], ['Origin', 'null']]],
    [
      2,
      () => [
        ...draft.headers,
        ...Array.from({ length: random.between(100, 2_500) }, (_, i): [string, string] => [`X-${i}`, '1']),
      ],
    ],
    [2, () => [...draft.headers, ['X-Large', 'x'.repeat(random.pick([8_000, 17_000]))]]],
    [2, () => without('host')],
    [
      2,
      () => [
        ...without('host'),
        ['Host', random.pick(['evil.example', '', '127.0.0.1:99999', 'a b', '[::1'])],
      ],
    ],
  ])()
  // A malformed request closes the connection; every other one gets one response.
  return { kind: 'tricky headers', bytes: raw({ ...draft, headers }), caller, finish: true }
}

function oddMethod(stock: Stock): Case {
  const { random } = stock
  const { draft, caller } = draftFor(random.pick(ROUTES), stock, false)
  const method = random.pick(ODD_METHODS)
  return {
    kind: 'odd method',
    bytes: raw({ ...draft, method }),
    caller,
    isHead: method === 'HEAD',
    finish: true,
  }
}

function truncated(stock: Stock): Case {
  const { random } = stock
  const { draft, caller } = draftFor(random.pick(ROUTES.filter(({ body }) => body)), stock, false)
  const whole = raw(draft)
  const bytes = whole.subarray(0, random.between(0, whole.length - 1))
  return { kind: 'truncated', bytes, caller, ...(random.chance(0.5) ? { finish: true } : { vanish: true }) }
}

/** Framing that two parsers could read differently: the inner request must never be answered. */
function smuggled(stock: Stock): Case {
  const { random } = stock
  const inner = 'GET /health/live?smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'
  const head =
    'POST /v1/oauth/token HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n'
  const chunked = `0\r\n\r\n${inner}`
  const bytes = random.pick([
    `${head}Content-Length: ${chunked.length}\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`,
    `${head}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n${chunked}`,
    `${head}Content-Length: 0\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
    `${head}Content-Length: 0, ${inner.length}\r\n\r\n${inner}`,
    `${head}Content-Length: +0\r\n\r\n${inner}`,
    `${head}Content-Length: 0x0\r\n\r\n${inner}`,
    `${head}Content-Length: -1\r\n\r\n${inner}`,
    `${head}Content-Length : 0\r\n\r\n${inner}`,
    `${head}Transfer-Encoding: xchunked\r\n\r\n${chunked}`,
    `${head}Transfer-Encoding: chunked, identity\r\n\r\n${chunked}`,
    `${head}Transfer-Encoding: identity\r\nContent-Length: 0\r\n\r\n${inner}`,
    `${head}Transfer-Encoding : chunked\r\n\r\n${chunked}`,
    `${head}Transfer-Encoding:\x0bchunked\r\n\r\n${chunked}`,
    `${head}Transfer-Encoding: chunked\r\n\r\n0;x\n\r\n\r\n${inner}`,
    `${head}Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n${inner}`,
    `${head}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n\r\n${inner}`,
    `${head}X: a\rContent-Length: 0\r\n\r\n${inner}`,
    `${head}X: a\r\n Content-Length: 0\r\n\r\n${inner}`.replace('X: a\r\n ', 'Content-Length: 5\r\n '),
  ])
  return { kind: 'smuggled', bytes: Buffer.from(bytes, 'latin1'), caller: 'nobody', finish: true }
}

function pipelined(stock: Stock): Case {
  const { random } = stock
  const count = random.between(2, 6)
  const drafts = Array.from({ length: count }, () =>
    draftFor(random.pick(ROUTES.filter(({ takes }) => takes === 'key')), stock, false),
  )
  const bytes = Buffer.concat(drafts.map(({ draft }) => raw(draft)))
  return { kind: 'pipelined', bytes, caller: 'pair', answers: count }
}

function garbage({ random }: Stock): Case {
  const bytes = Buffer.from(Array.from({ length: random.between(1, 2_000) }, () => random.between(0, 255)))
  return { kind: 'garbage', bytes, caller: 'nobody', finish: true }
}
