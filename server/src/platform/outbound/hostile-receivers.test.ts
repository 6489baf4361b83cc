import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { makeAuthority } from '../../../test/certificates.ts'
import { answerOf, type RawReceiver, startRawReceiver } from '../../../test/raw-receiver.ts'
import { createEgressPolicy, createSender, MAX_BODY_BYTES, type Sender, type SendOutcome } from './index.ts'

const policy = createEgressPolicy(['127.0.0.0/8'])
/** With the default deadline, for receivers that end by themselves. */
let sender: Sender
/** For receivers that never end. Long enough to connect and to read the start of a response on a busy machine. */
let hasty: Sender
const DEADLINE_MS = 3_000
beforeAll(() => {
  sender = createSender({ policy })
  hasty = createSender({ policy, deadlineMs: DEADLINE_MS })
})
afterAll(() => Promise.all([sender.close(), hasty.close()]))

interface Met {
  readonly answer: SendOutcome
  readonly receiver: RawReceiver
}

/** Sends once to a receiver with this behaviour, and checks what happens. */
async function meet(
  by: Sender,
  onRequest: (socket: Socket) => void,
  look: (met: Met) => Promise<void> | void,
  body = Buffer.from('{"a":1}'),
): Promise<void> {
  const receiver = await startRawReceiver({ onRequest })
  try {
    const answer = await by.send({
      url: `http://127.0.0.1:${receiver.port}/hook?token=s3cret`,
      headers: {},
      body,
    })
    expect(answer.error ?? '').not.toMatch(/s3cret|127\.0\.0\.1/)
    await look({ answer, receiver })
  } finally {
    await receiver.close()
  }
}

const isClosed = ({ receiver }: Met) =>
  vi.waitFor(() => expect(receiver.closed()).toBe(receiver.connections()), { timeout: 30_000 })

/** Writes what `next` returns as fast as it is read, until the other side closes. */
function flood(socket: Socket, next: () => string | Buffer): void {
  const pour = () => {
    while (!socket.destroyed && socket.write(next()));
  }
  socket.on('drain', pour)
  pour()
}

const says = (text: string | Buffer) => (socket: Socket) => void socket.write(text)
const saysAndCloses = (text: string | Buffer) => (socket: Socket) => void socket.end(text)

describe('a receiver that never finishes is abandoned at the deadline', () => {
  const drip = (start: string, drop: string) => (socket: Socket) => {
    socket.write(start)
    const timer = setInterval(() => socket.write(drop), 20)
    socket.on('close', () => clearInterval(timer))
  }
  const cases: [string, (socket: Socket) => void, RegExp][] = [
    ['says nothing', () => undefined, /^no answer within 3 s \(connected in \d+ ms\)$/],
    ['says half a line', says('HTTP/1.1 20'), /^no answer within 3 s \(connected in \d+ ms\)$/],
    ['drips its headers', drip('HTTP/1.1 200 OK\r\n', 'x'), /^no answer within 3 s/],
    ['drips blank lines', drip('', '\r\n'), /^no answer within 3 s/],
    [
      'drips its body',
      drip('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n', 'x'),
      /^answered 200 but did not finish within 3 s \(\d+ of 1000 bytes\)$/,
    ],
    [
      'drips chunks',
      drip('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\nx\r\n'),
      /^answered 200 but did not finish within 3 s \(\d+ bytes\)$/,
    ],
    [
      'never sends the body that it announced',
      says('HTTP/1.1 200 OK\r\ncontent-length: 120\r\n\r\n'),
      /^answered 200 but did not finish within 3 s \(0 of 120 bytes\)$/,
    ],
    [
      'drips one chunk extension',
      drip('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;', 'x'),
      /^answered 200 but did not finish within 3 s/,
    ],
  ]
  test.concurrent.each(cases)(
    'a receiver that %s is abandoned at the deadline',
    async (_, receiver, words) => {
      await meet(hasty, receiver, async (met) => {
        expect(met.answer).toMatchObject({ error: expect.stringMatching(words), isBlocked: false })
        expect(met.answer.durationMs).toBeGreaterThanOrEqual(DEADLINE_MS - 10)
        await isClosed(met)
      })
    },
  )

  test.concurrent('a receiver that never reads the request is abandoned at the deadline', async () => {
    const receiver = await startRawReceiver({ onConnection: (socket) => socket.pause() })
    const body = Buffer.alloc(30_000_000, 32)
    const { error } = await hasty.send({ url: `http://127.0.0.1:${receiver.port}/`, headers: {}, body })
    expect(error).toMatch(/^no answer within 3 s/)
    await receiver.close()
  })

  test.concurrent('a name that DNS never answers is abandoned at the deadline', async () => {
    const lost = createSender({ policy, deadlineMs: 100, resolve: () => new Promise(() => undefined) })
    const { error } = await lost.send({ url: 'https://hooks.example/', headers: {}, body: Buffer.from('{}') })
    expect(error).toBe('no connection within 0.1 s')
    await lost.close()
  })
})

describe('a response that is too long is cut', () => {
  /** More than the system buffers between two sockets: an endless response must not be read completely. */
  const MAX_BUFFERED_BYTES = 32_000_000

  test('the first 16 KB of an endless body are kept, and the connection is closed', async () => {
    let receiving: Socket | undefined
    const endless = (socket: Socket) => {
      receiving = socket
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n')
      flood(socket, () => Buffer.alloc(65_536, 'y'))
    }
    await meet(sender, endless, async (met) => {
      expect(met.answer).toMatchObject({ status: 200, error: null, body: 'y'.repeat(MAX_BODY_BYTES) })
      await isClosed(met)
      expect(receiving!.bytesWritten).toBeLessThan(MAX_BUFFERED_BYTES)
    })
  })

  test('an endless body in chunks of one byte is cut', async () => {
    const endless = (socket: Socket) => {
      socket.write('HTTP/1.1 500 Oh\r\ntransfer-encoding: chunked\r\n\r\n')
      flood(socket, () => '1\r\ny\r\n'.repeat(1000))
    }
    await meet(sender, endless, async (met) => {
      expect(met.answer).toMatchObject({ status: 500, error: null, body: 'y'.repeat(MAX_BODY_BYTES) })
      await isClosed(met)
    })
  })

  test('two hundred endless responses take little memory together', async () => {
    const receiver = await startRawReceiver({
      onRequest: (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
        socket.write(`4000\r\n${'y'.repeat(0x4000)}\r\n`)
      },
    })
    const url = `http://127.0.0.1:${receiver.port}/`
    const before = process.memoryUsage().rss
    const sends = Array.from({ length: 200 }, () => hasty.send({ url, headers: {}, body: Buffer.from('{}') }))
    for (const { error } of await Promise.all(sends)) expect(error).toMatch(/within 3 s/)
    // Includes the memory of the receiver.
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000)
    await receiver.close()
  })

  test('a cut never splits a character, and NUL is replaced', async () => {
    const text = `a\0${'é'.repeat(MAX_BODY_BYTES)}`
    await meet(sender, says(answerOf('200 OK', text)), ({ answer }) => {
      expect(answer.body).toBe(`a\ufffd${'é'.repeat(MAX_BODY_BYTES / 2 - 1)}`)
    })
    await meet(sender, says(answerOf('200 OK', `b${text}`)), ({ answer }) => {
      expect(answer.body).toBe(`ba\ufffd${'é'.repeat(MAX_BODY_BYTES / 2 - 2)}`)
    })
  })

  test.each([
    ['many headers', (n: number) => `x-${n}: ${'y'.repeat(1000)}\r\n`],
    ['many tiny headers', () => 'a:\r\n'.repeat(1000)],
    ['headers of endless length', () => 'y'.repeat(1000)],
  ])('%s beyond 16 KB end the request', async (_, next) => {
    const endless = (socket: Socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx:y')
      let n = 0
      flood(socket, () => next(n++))
    }
    await meet(sender, endless, async (met) => {
      expect(met.answer).toMatchObject({ status: null, error: 'answered with headers of more than 16 KB' })
      await isClosed(met)
    })
  })

  test('endless informational responses end the request', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(10)
    const endless = (socket: Socket) => flood(socket, () => hints)
    await meet(sender, endless, async (met) => {
      const error = 'sent 100 interim responses and no final one'
      expect(met.answer).toMatchObject({ status: null, error })
      await isClosed(met)
    })
  })

  test('endless trailers end the request', async () => {
    const endless = (socket: Socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n')
      flood(socket, () => `x: ${'y'.repeat(1000)}\r\n`)
    }
    await meet(sender, endless, async (met) => {
      expect(met.answer).toMatchObject({ status: 200, error: 'answered 200 but sent trailers without end' })
      await isClosed(met)
    })
  })

  test.each([
    ['chunk extensions', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;', 200],
    ['blank lines before a response', '\r\n', null],
  ])('endless %s: at most 1 MB of a response is read', async (_, start, status) => {
    let receiving: Socket | undefined
    const endless = (socket: Socket) => {
      receiving = socket
      socket.write(start)
      flood(socket, () => (status === null ? '\r\n' : 'x').repeat(32_768))
    }
    await meet(sender, endless, async (met) => {
      expect(met.answer).toMatchObject({ status, error: 'sent more than 1 MB as one answer' })
      await isClosed(met)
      expect(receiving!.bytesWritten).toBeLessThan(MAX_BUFFERED_BYTES)
    })
  })

  test('compression is neither requested nor undone, so a compressed bomb stays compressed', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000, 'boom'))
    const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`
    await meet(sender, says(Buffer.concat([Buffer.from(head), bomb])), ({ answer, receiver }) => {
      expect(answer).toMatchObject({ status: 200, error: null })
      expect(answer.body).not.toContain('boomboom')
      expect(answer.body!.length).toBeLessThanOrEqual(MAX_BODY_BYTES)
      expect(receiver.received()).not.toMatch(/accept-encoding/i)
    })
  })
})

describe('a response that ends early', () => {
  const NO_ANSWER = 'closed the connection without an answer'
  test.each([
    ['before a word', (socket: Socket) => socket.destroy(), null, NO_ANSWER],
    ['hard', (socket: Socket) => socket.resetAndDestroy(), null, NO_ANSWER],
    ['within the headers', saysAndCloses('HTTP/1.1 200 OK\r\ncontent-'), null, NO_ANSWER],
    [
      'within the body',
      saysAndCloses('HTTP/1.1 200 OK\r\ncontent-length: 120\r\n\r\nabc'),
      200,
      'answered 200 but closed after 3 of 120 bytes',
    ],
    [
      'within the body, as it said it would',
      saysAndCloses('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 120\r\n\r\nabc'),
      200,
      'answered 200 but closed after 3 of 120 bytes',
    ],
    [
      'within a chunk',
      saysAndCloses('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabc'),
      200,
      'answered 200 but closed after 3 bytes',
    ],
    [
      'between chunks, as it said it would',
      saysAndCloses('HTTP/1.1 503 Oh\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n'),
      503,
      'answered 503 but closed after 1 byte',
    ],
  ])('%s', async (_, receiver, status, error) => {
    await meet(sender, receiver, ({ answer }) =>
      expect(answer).toMatchObject({ status, error, isBlocked: false }),
    )
  })

  test('the part of a body that arrived before the end is kept', async () => {
    const abrupt = saysAndCloses('HTTP/1.1 200 OK\r\ncontent-length: 120\r\n\r\nabc')
    await meet(sender, abrupt, ({ answer }) => expect(answer.body).toBe('abc'))
  })

  test('a receiver that closes without reading the request is reported as such', async () => {
    const receiver = await startRawReceiver({})
    await receiver.close()
    const url = `http://127.0.0.1:${receiver.port}/`
    const answer = await sender.send({ url, headers: {}, body: Buffer.from('{}') })
    expect(answer).toMatchObject({ status: null, body: null, error: 'connection refused' })
  })
})

describe('responses that are not HTTP', () => {
  test.each([
    ['SSH-2.0-OpenSSH_9.2p1\r\n', null, /^answered with something that is not HTTP( \(.+\))?$/],
    ['\0\0\0\0', null, /^answered with something that is not HTTP/],
    ['{"ok":true}', null, /^answered with something that is not HTTP/],
    ['HTTP/1.1 099 Low\r\n\r\n', null, /^answered with something that is not HTTP/],
    ['HTTP/1.1 OK\r\n\r\n', null, /^answered with something that is not HTTP/],
    ['HTTP/9.9 200 OK\r\n\r\n', null, /^answered with something that is not HTTP/],
    ['HTTP/1.1 200 OK\r\nno colon here\r\n\r\n', null, /^answered with something that is not HTTP/],
    ['HTTP/1.1 200 OK\r\ncontent-length: lots\r\n\r\n', null, /^answered with something that is not HTTP/],
    [
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
      null,
      /^answered with something that is not HTTP/,
    ],
    [
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n\r\nabc',
      null,
      /^answered with something that is not HTTP/,
    ],
    [
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\nhuge\r\n',
      200,
      /^answered 200 but violated HTTP after 2 bytes$/,
    ],
    [
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      null,
      /1xx, which was not asked for$/,
    ],
    ['HTTP/1.1 100 Continue\r\n\r\n', null, /1xx, which was not asked for$/],
  ])('%j', async (text, status, words) => {
    await meet(sender, says(text), async (met) => {
      expect(met.answer).toMatchObject({ status, error: expect.stringMatching(words), isBlocked: false })
      await isClosed(met)
    })
  })
})

describe('unusual but valid responses', () => {
  // undici closes the connection on an unsolicited 100 Continue, which RFC 9110 §15.2 says to ignore.
  test.fails('an unsolicited 100 Continue is skipped', async () => {
    const receiver = says(`HTTP/1.1 100 Continue\r\n\r\n${answerOf('200 OK', 'ok')}`)
    await meet(sender, receiver, ({ answer }) => expect(answer).toMatchObject({ status: 200, error: null }))
  })

  test.each([
    ['204', says('HTTP/1.1 204 No Content\r\n\r\n'), 204, ''],
    ['204 with a length', says('HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n'), 204, ''],
    ['205', says('HTTP/1.1 205 Reset Content\r\ncontent-length: 0\r\n\r\n'), 205, ''],
    ['304', says('HTTP/1.1 304 Not Modified\r\n\r\n'), 304, ''],
    ['299', says(answerOf('299 Odd', 'x')), 299, 'x'],
    ['600', says(answerOf('600 Odder', 'x')), 600, 'x'],
    ['HTTP/1.0', saysAndCloses('HTTP/1.0 200 OK\r\n\r\nto the end'), 200, 'to the end'],
    ['no length', saysAndCloses('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nto the end'), 200, 'to the end'],
    [
      'no length, and closed in haste',
      (socket: Socket) =>
        socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nto the end', () =>
          setTimeout(() => socket.resetAndDestroy(), 50),
        ),
      200,
      'to the end',
    ],
    ['no reason', says('HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok'), 200, 'ok'],
    [
      'hints before',
      says(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${answerOf('200 OK', 'ok')}`),
      200,
      'ok',
    ],
    ['more than announced', says(`${answerOf('200 OK', 'ok')}and more`), 200, 'ok'],
    ['a second answer', says(answerOf('200 OK', 'ok') + answerOf('500 Oh', 'no')), 200, 'ok'],
    [
      'trailers',
      says(
        'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx-checksum: 1\r\nstatus: 500\r\n\r\n',
      ),
      200,
      'ok',
    ],
  ])('%s', async (_, receiver, status, body) => {
    await meet(sender, receiver, ({ answer }) => expect(answer).toMatchObject({ status, body, error: null }))
  })

  test('an unsolicited response does not count for the next request', async () => {
    const chatty = says(answerOf('200 OK', 'first') + answerOf('500 Oh', 'unasked'))
    const receiver = await startRawReceiver({ onRequest: chatty })
    const url = `http://127.0.0.1:${receiver.port}/`
    for (let turn = 0; turn < 3; turn++) {
      const answer = await sender.send({ url, headers: {}, body: Buffer.from('{}') })
      expect(answer).toMatchObject({ status: 200, body: 'first', error: null })
    }
    await receiver.close()
  })

  test('an unsolicited response over TLS does not count for the next request', async () => {
    const authority = makeAuthority()
    const receiver = await startRawReceiver({
      certificate: authority.issue({ names: ['hooks.example'] }),
      onRequest(socket) {
        socket.cork()
        socket.write(answerOf('200 OK', 'first'))
        socket.write(answerOf('500 Oh', 'unasked'))
        socket.uncork()
      },
    })
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
    const secure = createSender({ policy, resolve, ca: authority.cert })
    const url = `https://hooks.example:${receiver.port}/`
    for (let turn = 0; turn < 10; turn++) {
      const answer = await secure.send({ url, headers: {}, body: Buffer.from('{}') })
      expect(answer).toMatchObject({ status: 200, body: 'first', error: null })
    }
    await Promise.all([secure.close(), receiver.close()])
  })

  test('a connection on which the response came before the request was sent is not used again', async () => {
    const receiver = await startRawReceiver({
      onConnection(socket) {
        socket.pause()
        socket.write(answerOf('200 OK', 'ok'))
      },
    })
    const url = `http://127.0.0.1:${receiver.port}/`
    const body = Buffer.alloc(8_000_000, 32)
    for (let turn = 0; turn < 3; turn++)
      expect(await sender.send({ url, headers: {}, body })).toMatchObject({ status: 200, error: null })
    expect(receiver.connections()).toBe(3)
    await receiver.close()
  })
})

describe('a redirect is not followed', () => {
  test.each([301, 302, 303, 307, 308])('%i', async (status) => {
    const elsewhere = await startRawReceiver({ onRequest: says(answerOf('200 OK')) })
    const location = `location: http://user:pass@127.0.0.2:${elsewhere.port}/login?session=s3cret#part\r\n`
    await meet(sender, says(answerOf(`${status} Moved`, '', location)), ({ answer }) => {
      const words = `redirected to http://127.0.0.2:${elsewhere.port}/login; redirects are not followed`
      expect(answer).toMatchObject({ status, error: words, isBlocked: false })
      expect(elsewhere.connections()).toBe(0)
    })
    await elsewhere.close()
  })

  test.each([
    ['location: https://hooks.example/jtn_abc/x\r\n', 'redirected to https://hooks.example/jtn_•••/x; '],
    [`location: https://hooks.example/${'a'.repeat(500)}\r\n`, `redirected to https://hooks.example/aaa`],
    ['location: http://[\r\n', 'redirected elsewhere; '],
    ['location: ?again\r\n', 'redirected to itself; '],
    ['location: file:///etc/passwd\r\n', 'redirected elsewhere; '],
    ['', 'redirected elsewhere; '],
  ])('%s', async (location, words) => {
    await meet(sender, says(answerOf('302 Found', '', location)), ({ answer }) => {
      expect(answer.error).toContain(words)
      expect(answer.error!.length).toBeLessThan(400)
    })
  })
})
