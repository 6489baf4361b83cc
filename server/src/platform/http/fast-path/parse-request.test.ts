import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { copyText } from '../../copy-text.ts'
import { methodAndUrlIn, parseRequest } from './parse-request.ts'

const PEER = { remoteAddress: '127.0.0.1' }

function parse(bytes: Buffer) {
  const text = bytes.toString('latin1')
  const [, method, url] = /^([A-Z]+) (\/v1\/oauth\/token)$/.exec(methodAndUrlIn(text) ?? '') ?? []
  const request = method && url && parseRequest({ bytes, text, socket: PEER }, { method, url })
  if (!request || request.end !== bytes.length) return undefined
  return { headers: request.headers, body: text.slice(request.bodyAt) }
}

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
])('the fast path leaves to Node: %s', (_, text) => {
  expect(parse(Buffer.from(PLAIN))).toMatchObject({ body: 'a=b', headers: { host: 'x' } })
  expect(parse(Buffer.from(text, 'latin1'))).toBe(undefined)
})

test('strings of a request do not keep the whole request in memory', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const held = (): number => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const read = (i: number) => {
    const name = `X-Name-Of-${String(i).padStart(8, '0')}`
    const text = `GET /gateway/authorize HTTP/1.1\r\nHost: x\r\n${name}: a-value-of-some-length-${i}\r\nX: ${'x'.repeat(7000)}\r\n\r\n`
    const bytes = Buffer.from(text + 'x'.repeat(40_000))
    const request = parseRequest(
      { bytes, text: bytes.toString('latin1'), socket: PEER },
      { method: 'GET', url: '/gateway/authorize' },
    )!
    return [request.headers[name.toLowerCase()], copyText(bytes.toString('latin1').slice(60, 90))]
  }
  const before = held()
  const kept = Array.from({ length: 900 }, (_, i) => read(i))
  // All received bytes would be 42 MB.
  expect(held() - before).toBeLessThan(8 * 1024 * 1024)
  expect(kept[7]![0]).toBe('a-value-of-some-length-7')
})
