import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import fc from '../../../test/properties.ts'
import { BODY_MAX_BYTES } from './answer-body.ts'
import { AnswerReader, NotHttp } from './answer-reader.ts'

/** What is made of an answer after which the other side closes; null where it is none, or broken off. */
interface Made {
  readonly status: number
  readonly body: string
}

/** Whatever is asked. */
let said: Buffer = Buffer.alloc(0)
const receiver = createServer((socket) => {
  socket.on('error', () => undefined)
  socket.once('data', () => socket.end(said))
})
beforeAll(() => new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve)))
afterAll(() => void receiver.close())

function madeByNode(bytes: Buffer): Promise<Made | null> {
  said = bytes
  const { port } = receiver.address() as AddressInfo
  return new Promise((resolve) => {
    const asked = request({ method: 'POST', port, agent: false })
    asked.on('error', () => resolve(null))
    // Neither was asked for.
    asked.on('upgrade', (_, socket) => socket.destroy())
    asked.on('close', () => resolve(null))
    asked.on('continue', () => asked.destroy())
    asked.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', () => resolve(null))
      response.on('end', () =>
        resolve({ status: response.statusCode!, body: Buffer.concat(chunks).toString('latin1') }),
      )
    })
    asked.end()
  })
}

function madeByHand(pieces: readonly Buffer[]): Made | null {
  const reader = new AnswerReader()
  // As from a connection: all of them lie in the same place, one after the other.
  const place = Buffer.alloc(64 * 1024)
  try {
    for (const piece of pieces) {
      if (reader.isWhole) break
      piece.copy(place)
      reader.read(place.subarray(0, piece.length))
    }
  } catch {
    return null
  }
  if (!reader.endsHere()) return null
  return { status: reader.status!, body: reader.body.text() }
}

/** Where the answer ends, if it does before all that is said. */
function endOf(bytes: Buffer): number {
  const reader = new AnswerReader()
  try {
    for (let at = 0; at < bytes.length; at++) {
      if (reader.isWhole) return at
      reader.read(bytes.subarray(at, at + 1))
    }
  } catch {}
  return bytes.length
}

const often = <T>(usual: fc.Arbitrary<T>, ...unusual: T[]) =>
  fc.oneof({ arbitrary: usual, weight: 20 }, { arbitrary: fc.constantFrom(...unusual), weight: 1 })
const text = fc.string({ maxLength: 12, unit: fc.constantFrom(...'ab0 :;\t-') })

const statusLine = fc
  .tuple(
    often(fc.constant('HTTP/1.1'), 'HTTP/1.0', 'HTTP/2', 'http/1.1', 'HTTP/1.1 ', ''),
    often(fc.constantFrom('200', '204', '304', '404', '500', '999'), '100', '103', '20', '2000', '099', ''),
    often(fc.constantFrom(' OK', ''), ' ', '\tOK', ' \0', ' a\rb', ' é'),
  )
  .map(([version, status, reason]) => `${version} ${status}${reason}`)
const field = fc
  .tuple(
    often(
      fc.constantFrom('Date', 'x-a', 'Server', 'Retry-After'),
      ...['', 'a b', ' x', 'Content-Length', 'a\0', 'Transfer-Encoding'],
    ),
    often(fc.constantFrom(':', ': ', ':\t'), '', ' :', ' '),
    often(text, 'a\nb', 'a\rb', '\0', '\r\n folded', 'é', 'chunked', '1\xa0', '\x01'),
  )
  .map((parts) => parts.join(''))
const chunk = fc
  .tuple(text, often(fc.constant(''), ';a=b', ' ', 'x', ';'), often(fc.constant('\r\n'), '\n', '', 'x'))
  .map(([data, more, end]) => `${data.length.toString(16)}${more}\r\n${data}${end}`)
const chunks = fc
  .tuple(
    fc.array(chunk, { maxLength: 3 }),
    often(fc.constant('0\r\n\r\n'), '0\r\nx: y\r\n\r\n', '', '0\r\n', '0\r\nx\r\n\r\n'),
  )
  .map(([many, end]) => [...many, end].join(''))
const framed = fc.oneof(
  fc.tuple(text, often(fc.constant(0), 1, -1)).map(([body, wrong]) => ({
    fields: [`content-length: ${body.length + wrong}`],
    body,
  })),
  fc
    .tuple(chunks, often(fc.constant('chunked'), 'Chunked', 'gzip, chunked', 'identity'))
    .map(([body, how]) => ({
      fields: [`Transfer-Encoding: ${how}`],
      body,
    })),
  text.map((body) => ({ fields: [], body })),
)
const answer = fc
  .tuple(
    statusLine,
    fc.array(field, { maxLength: 4 }),
    framed,
    often(fc.constant('\r\n'), '\n'),
    often(fc.constant(''), '\r\n', 'HTTP/1.1 103 Early\r\nlink: a\r\n\r\n'),
  )
  .map(([line, fields, { fields: framing, body }, end, before]) =>
    Buffer.from(`${before}${[line, ...fields, ...framing].join(end)}${end}${end}${body}`, 'latin1'),
  )

/** Cut anywhere. */
const cut = (bytes: Buffer, cuts: readonly number[]): Buffer[] => {
  const places = [...new Set([0, ...cuts.map((part) => Math.floor(part * bytes.length)), bytes.length])]
  places.sort((a, b) => a - b)
  return places.slice(1).map((end, i) => bytes.subarray(places[i], end))
}

test('what is taken for an answer is what Node takes for it, however it is cut', async () => {
  const kinds = { same: 0, neither: 0, nodeAlone: 0 }
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(answer, cuts, async (bytes, where) => {
      const byHand = madeByHand(cut(bytes, where))
      expect(madeByHand([bytes])).toEqual(byHand)
      // Of what follows an answer Node says that it is none; here it costs the connection, and no more.
      const byNode = await madeByNode(bytes.subarray(0, endOf(bytes)))
      if (byHand) expect(byHand).toEqual(byNode)
      kinds[byHand ? 'same' : byNode ? 'nodeAlone' : 'neither']++
    }),
    { numRuns: 5_000 },
  )
  // Neither a test of refusals alone, nor one that refuses what is usual.
  expect(kinds.same).toBeGreaterThan(1_000)
  expect(kinds.neither).toBeGreaterThan(500)
  expect(kinds.nodeAlone).toBeLessThan(kinds.same / 10)
})

test('a connection serves again where the answer ends where it should, and nobody has said otherwise', () => {
  const staysOpen = (...pieces: string[]) => {
    const reader = new AnswerReader()
    for (const piece of pieces) reader.read(Buffer.from(piece))
    return reader.staysOpen
  }
  const whole = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
  expect(staysOpen(whole)).toBe(true)
  expect(staysOpen('HTTP/1.1 204 No Content\r\n\r\n')).toBe(true)
  expect(staysOpen('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n')).toBe(true)
  expect(staysOpen(whole.slice(0, -1))).toBe(false)
  expect(staysOpen(`${whole}more`)).toBe(false)
  expect(staysOpen(whole.replace('1.1', '1.0'))).toBe(false)
  for (const value of ['close', 'Close', 'x, close', 'close , x'])
    expect(staysOpen(whole.replace('OK\r\n', `OK\r\nConnection: ${value}\r\n`)), value).toBe(false)
  expect(staysOpen(whole.replace('OK\r\n', 'OK\r\nConnection: closed\r\n'))).toBe(true)
  expect(staysOpen(whole.replace('OK\r\n', 'OK\r\nconnection: keep-alive\r\nconnection: close\r\n'))).toBe(
    false,
  )
  expect(staysOpen('HTTP/1.1 200 OK\r\n\r\nok')).toBe(false)
  // Who announces a body where there is none may send it.
  expect(staysOpen('HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\n')).toBe(false)
  expect(staysOpen('HTTP/1.1 304 Not Modified\r\ntransfer-encoding: chunked\r\n\r\n')).toBe(false)
  expect(staysOpen('HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n')).toBe(true)
})

test('an answer in single bytes is read as in one piece, and no more of it is kept than may be', () => {
  const long = 'y'.repeat(BODY_MAX_BYTES + 1)
  const reader = new AnswerReader()
  const bytes = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${long.length}\r\n\r\n${long}`)
  for (const byte of bytes) reader.read(Buffer.from([byte]))
  expect([reader.isWhole, reader.body.isTooLong, reader.body.received]).toEqual([true, true, long.length])
  expect(reader.body.text()).toBe(long.slice(1))
})

test('what proxies say twice is said once', () => {
  const reader = new AnswerReader()
  const twice = 'transfer-encoding: chunked\r\nTransfer-Encoding: chunked\r\n'
  reader.read(Buffer.from(`HTTP/1.1 200 OK\r\n${twice}\r\n2\r\nok\r\n0\r\n\r\n`))
  expect([reader.isWhole, reader.body.text()]).toEqual([true, 'ok'])
})

test('a head that was read before is read as it was the first time', () => {
  const readAll = (text: string) => {
    const reader = new AnswerReader()
    reader.read(Buffer.from(text))
    return [reader.status, reader.field('x'), reader.body.text(), reader.staysOpen, reader.idleMs]
  }
  const one = 'HTTP/1.1 200 OK\r\nx: 1\r\ncontent-length: 2\r\nkeep-alive: timeout=5\r\n\r\n'
  const other = 'HTTP/1.0 410 Gone\r\nx: 2\r\ncontent-length: 2\r\n\r\n'
  for (let turn = 0; turn < 2; turn++) {
    expect(readAll(`${one}ab`)).toEqual([200, '1', 'ab', true, 5_000])
    expect(readAll(`${one}cd`)).toEqual([200, '1', 'cd', true, 5_000])
    expect(readAll(`${other}ef`)).toEqual([410, '2', 'ef', false, null])
    for (let again = 0; again < 2; again++)
      expect(() => readAll(`${one.replace('timeout', '\0')}ab`)).toThrow('a header')
    expect(readAll(`${one}a`)).toEqual([200, '1', 'a', false, 5_000])
  }
})

test('a line without CR is told at once, and not waited for', () => {
  const say = (text: string) => () => new AnswerReader().read(Buffer.from(text))
  const words = 'a line that does not end with CR and LF'
  expect(say('HTTP/1.1 200 OK\ncontent-length: 2\n\nok')).toThrow(words)
  expect(say('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\nok')).toThrow(words)
  expect(say('HTTP/1.1 200 OK\r\na: b\r\r\r')).toThrow(words)
})

test('blanks without end cost no more than other bytes', () => {
  // Were it tried from every one of them, this would take minutes.
  for (const end of ['\0', '\n', 'x\x01'])
    for (let turn = 0; turn < 300; turn++) {
      const head = Buffer.from(`HTTP/1.1 200 OK\r\na:${' '.repeat(16_000)}${end}\r\n\r\n`)
      expect(() => new AnswerReader().read(head)).toThrow(NotHttp)
    }
  const many = Buffer.from(`HTTP/1.1 200 OK\r\na: b${' '.repeat(16_000)}\r\n\r\n`)
  for (let turn = 0; turn < 300; turn++) {
    const reader = new AnswerReader()
    reader.read(many)
    expect(reader.field('a')).toBe('b')
  }
})
