/** Compares the parser of the fast path with Node's own. */
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { methodAndUrlIn, parseRequest } from '../../src/platform/http/fast-path/parse-request.ts'
import { LONG } from '../faults/run-settings.ts'
import fc from '../properties.ts'

const CASES = LONG ? 200_000 : 10_000

/** A request as one of the parsers reads it. */
interface Parsed {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly rawHeaders: readonly string[]
  readonly body: string
  readonly keepsAlive: boolean
}

const server = createServer({ requireHostHeader: false })
let seen: { requests: Parsed[]; broken: number }

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

/** Sends the bytes and a byte that begins no request: it fails differently if the parser has bytes left over. */
async function parsedByNode(bytes: Buffer): Promise<typeof seen> {
  seen = { requests: [], broken: 0 }
  const { port } = server.address() as AddressInfo
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined).on('close', () => resolve())
    socket.resume().end(Buffer.concat([bytes, Buffer.from('\0')]))
  })
  return seen
}

function parsedByFastPath(bytes: Buffer): Parsed | undefined {
  const text = bytes.toString('latin1')
  const [, method, url] =
    /^([A-Z]+) (\/v1\/oauth\/token|\/gateway\/authorize)$/.exec(methodAndUrlIn(text) ?? '') ?? []
  const socket = { remoteAddress: '127.0.0.1' }
  const request = method && url && parseRequest({ bytes, text, socket }, { method, url })
  if (!request || request.end !== bytes.length) return undefined
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
    'traceparent',
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

const damaged = fc
  .tuple(request, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 2 }))
  .map(([bytes, changes]) => {
    const copy = Buffer.from(bytes)
    for (const [at, byte] of changes) if (copy.length > 0) copy[at % copy.length] = byte
    return copy
  })

test('Node parses every request that the fast path accepts as the same single request, with no bytes left over', async () => {
  let accepted = 0
  const agree = fc.asyncProperty(damaged, async (bytes) => {
    const parsed = parsedByFastPath(bytes)
    if (!parsed) return
    accepted++
    expect(await parsedByNode(bytes)).toEqual({ requests: [parsed], broken: 1 })
  })
  await fc.assert(agree, { numRuns: CASES })
  // With fewer accepted requests the comparison would prove little.
  expect(accepted).toBeGreaterThan(CASES / 20)
}, 600_000)
