import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import fc from '../../../test/properties.ts'
import { ownText } from '../own-text.ts'
import { methodAndUrlIn, readPlainRequest } from './plain-request.ts'

/** What Node's own parser makes of the same bytes. */
interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly rawHeaders: readonly string[]
  readonly body: string
  readonly keepsAlive: boolean
}

const PEER = { remoteAddress: '127.0.0.1' }
const server = createServer({ requireHostHeader: false })
let seen: { requests: Seen[]; broken: number }

server.on('request', (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { method, url, headers, rawHeaders } = request
    const body = Buffer.concat(chunks).toString('latin1')
    const keepsAlive = response.shouldKeepAlive
    seen.requests.push({ method, url, headers, rawHeaders, body, keepsAlive })
    response.end()
  })
})
server.on('clientError', (_, socket) => {
  seen.broken++
  socket.destroy()
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => void server.close().closeAllConnections())

/** Sends the bytes, and one that begins no request: were anything left over of them, it would not be broken, or differently. */
async function seenByNode(bytes: Buffer): Promise<typeof seen> {
  seen = { requests: [], broken: 0 }
  const { port } = server.address() as AddressInfo
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined).on('close', () => resolve())
    socket.resume().end(Buffer.concat([bytes, Buffer.from('\0')]))
  })
  return seen
}

function readByHand(came: Buffer): Seen | undefined {
  const text = came.toString('latin1')
  const [, method, url] =
    /^([A-Z]+) (\/v1\/oauth\/token|\/gateway\/authorize)$/.exec(methodAndUrlIn(text) ?? '') ?? []
  const request = method && url && readPlainRequest({ came, text, socket: PEER }, { method, url })
  if (!request || request.end !== came.length) return undefined
  const { headers, rawHeaders, keepsAlive, bodyAt } = request
  return { method, url, headers, rawHeaders, body: text.slice(bodyAt), keepsAlive }
}

const often = <T>(usual: T, ...unusual: T[]) =>
  fc.oneof(
    { arbitrary: fc.constant(usual), weight: 30 },
    { arbitrary: fc.constantFrom(...unusual), weight: 1 },
  )

const name = fc.constantFrom(
  ...[
    'Content-Type',
    'authorization',
    'X-App-Id',
    'x-app-token',
    'X-Original-URI',
    'Cookie',
    'cookie',
    'Accept',
  ],
  ...[
    'Set-Cookie',
    'Connection',
    'Keep-Alive',
    'Upgrade',
    'Expect',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Range',
  ],
  ...[
    'Content-Length',
    'content-length',
    'Proxy-Connection',
    'Host',
    'X_Under',
    'constructor',
    'toString',
    'X',
    '',
    'X Y',
    'é',
  ],
)
const value = fc.oneof(
  fc.constantFrom(
    'x',
    'keep-alive',
    'close',
    'Close',
    'chunked',
    'identity',
    '100-continue',
    'a b',
    'a  b',
    'a:b',
  ),
  fc.constantFrom(
    '',
    ' ',
    'a\tb',
    '\ta',
    'a ',
    'é',
    'a\0b',
    'a\rb',
    'a\nb',
    'a\r\n b',
    '5',
    'close, x',
    'h2c',
  ),
  fc.string({
    unit: fc.integer({ min: 33, max: 126 }).map((code) => String.fromCharCode(code)),
    minLength: 1,
  }),
)
const line = fc
  .tuple(name, often(': ', ':', ' : ', ':  ', ':\t'), value, often('\r\n', '\n', '\r', '\r\r\n', '\n\r'))
  .map((parts) => parts.join(''))
const length = (bytes: number) =>
  often(
    `${bytes}`,
    `0${bytes}`,
    `+${bytes}`,
    `${bytes} `,
    `${bytes}, ${bytes}`,
    `0x${bytes}`,
    `-${bytes}`,
    `${bytes + 1}`,
  )

const request = fc
  .record({
    method: often('POST', 'GET', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'post', 'CONNECT', 'QUERY'),
    url: often('/v1/oauth/token', '/gateway/authorize', '/x y', '*', 'http://x/', '/é', '//', '/\t', ''),
    version: often(
      ' HTTP/1.1\r\n',
      ' HTTP/1.0\r\n',
      ' HTTP/1.1\n',
      '  HTTP/1.1\r\n',
      ' HTTP/1.1 \r\n',
      ' http/1.1\r\n',
    ),
    host: often('Host: x\r\n', '', 'Host:x\r\n', ' Host: x\r\n', 'Host: x\r\nHost: y\r\n'),
    lines: fc.oneof(fc.constant([]), fc.array(line, { maxLength: 4 })),
    body: fc.constantFrom('', 'a=b', 'token=x&y=%20z', 'GET / HTTP/1.1\r\n\r\n', '0\r\n\r\n'),
    blank: often('\r\n', '\n', '\r\n\r\n', ''),
    more: often('', 'x', 'GET / HTTP/1.1\r\n\r\n', '\r\n'),
  })
  .chain((parts) => length(parts.body.length).map((text) => ({ ...parts, length: text })))
  .map(({ method, url, version, host, lines, length, body, blank, more }) => {
    const ofLength = body === '' && method === 'GET' ? '' : `Content-Length: ${length}\r\n`
    return Buffer.from(
      `${method} ${url}${version}${host}${lines.join('')}${ofLength}${blank}${body}${more}`,
      'latin1',
    )
  })

const spoiled = fc
  .tuple(request, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 2 }))
  .map(([bytes, changes]) => {
    const copy = Buffer.from(bytes)
    for (const [at, byte] of changes) if (copy.length > 0) copy[at % copy.length] = byte
    return copy
  })

test('what is read by hand is read by Node as the same one request, and nothing is left over', async () => {
  let taken = 0
  const agree = fc.asyncProperty(spoiled, async (bytes) => {
    const byHand = readByHand(bytes)
    if (!byHand) return
    taken++
    expect(await seenByNode(bytes)).toEqual({ requests: [byHand], broken: 1 })
  })
  await fc.assert(agree, { numRuns: 20_000 })
  // Else it would have shown nothing.
  expect(taken).toBeGreaterThan(1_000)
}, 120_000)

const PLAIN = 'POST /v1/oauth/token HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na=b'

test.each([
  ['a length twice', PLAIN.replace('Content-Length: 3', 'Content-Length: 3\r\ncontent-length: 3')],
  [
    'a length and pieces',
    PLAIN.replace('Content-Length: 3', 'Content-Length: 3\r\nTransfer-Encoding: chunked'),
  ],
  ['a length that others read as octal, signed or a list', PLAIN.replace(': 3', ': 03')],
  ['a sign', PLAIN.replace(': 3', ': +3')],
  ['a list', PLAIN.replace(': 3', ': 3, 3')],
  ['a bare line feed', PLAIN.replace('x\r\n', 'x\n')],
  ['a folded line', PLAIN.replace('x\r\n', 'x\r\n y\r\n')],
  ['a space before the colon', PLAIN.replace('Host:', 'Host :')],
  ['a tab for the space', PLAIN.replace('Host: ', 'Host:\t')],
  ['a name with an underscore', PLAIN.replace('Host', 'X_Y: z\r\nHost')],
  ['a byte beyond ASCII', PLAIN.replace('Host: x', 'Host: \xe9')],
  ['a null', PLAIN.replace('Host: x', 'Host: a\0b')],
  ['no host', PLAIN.replace('Host: x\r\n', '')],
  ['another version', PLAIN.replace('1.1', '1.0')],
  ['an upgrade', PLAIN.replace('Host', 'Upgrade: h2c\r\nHost')],
  ['an expectation', PLAIN.replace('Host', 'Expect: 100-continue\r\nHost')],
  ['an answer without a body', PLAIN.replace('POST', 'HEAD')],
  ['8 KB of headers', PLAIN.replace('Host', `X: ${'x'.repeat(8 * 1024)}\r\nHost`)],
])('left to Node: %s', (_, text) => {
  expect(readByHand(Buffer.from(PLAIN))).toMatchObject({ body: 'a=b', headers: { host: 'x' } })
  expect(readByHand(Buffer.from(text, 'latin1'))).toBe(undefined)
})

test('what is kept of a request does not keep the request', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const held = (): number => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const read = (i: number) => {
    const name = `X-Name-Of-${String(i).padStart(8, '0')}`
    const text = `GET /gateway/authorize HTTP/1.1\r\nHost: x\r\n${name}: a-value-of-some-length-${i}\r\nX: ${'x'.repeat(7000)}\r\n\r\n`
    const came = Buffer.from(text + 'x'.repeat(40_000))
    const request = readPlainRequest(
      { came, text: came.toString('latin1'), socket: PEER },
      { method: 'GET', url: '/gateway/authorize' },
    )!
    return [request.headers[name.toLowerCase()], ownText(came.toString('latin1').slice(60, 90))]
  }
  const before = held()
  const kept = Array.from({ length: 900 }, (_, i) => read(i))
  // All of what came would be 42 MB.
  expect(held() - before).toBeLessThan(8 * 1024 * 1024)
  expect(kept[7]![0]).toBe('a-value-of-some-length-7')
})
