import { hash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { answerOf, type RawReceiver, startRawReceiver } from '../../../test/raw-receiver.ts'
import { createEgressPolicy, createSender, type Sender } from './index.ts'
import { TargetPools } from './target-pools.ts'

const cleanup: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of cleanup.splice(0)) await close()
})

function newSender(parts: Partial<Parameters<typeof createSender>[0]> = {}): Sender {
  const sender = createSender({ policy: createEgressPolicy(['127.0.0.0/8']), ...parts })
  cleanup.push(() => sender.close())
  return sender
}

async function receiver(behaviour: Parameters<typeof startRawReceiver>[0]): Promise<RawReceiver> {
  const started = await startRawReceiver(behaviour)
  cleanup.push(() => started.close())
  return started
}

const urlOf = ({ port }: RawReceiver, path = '/hook') => `http://127.0.0.1:${port}${path}`
const post = (sender: Sender, url: string, body = '{}', signal?: AbortSignal) =>
  sender.send({ url, headers: { 'x-a': '1' }, body: Buffer.from(body), signal })

const listening = (server: Server): Promise<AddressInfo> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address() as AddressInfo)))

const content = answerOf('200 OK', 'ok')
/** A connection is free for the next request a moment after its response has ended. */
const becomesIdle = () => sleep(10)

describe('requests', () => {
  test('a request is an HTTP/1.1 POST of the exact bytes with the given headers and no others', async () => {
    const at = await receiver({ onRequest: (socket) => socket.write(content) })
    const sender = newSender({ userAgent: 'Jeton/1.2.3' })
    const body = '{"name":"Zoë 🎁","n":1.0}'
    await post(sender, urlOf(at, '/a%20b/c?token=1&x=%C3%A9'), body)
    expect(at.received()).toBe(
      [
        'POST /a%20b/c?token=1&x=%C3%A9 HTTP/1.1',
        `host: 127.0.0.1:${at.port}`,
        'connection: keep-alive',
        'x-a: 1',
        'user-agent: Jeton/1.2.3',
        `content-length: ${Buffer.byteLength(body)}`,
        '',
        Buffer.from(body).toString('latin1'),
      ].join('\r\n'),
    )
  })
})

describe('concurrent requests', () => {
  test('concurrent requests of all lengths arrive unchanged over reused connections', async () => {
    const seen: string[] = []
    const server = createServer(async (request, response) => {
      const body = await text(request)
      seen.push(`${request.headers['x-a']} ${body.length} ${hash('sha256', body)}`)
      // Some responses are late, so that sends overtake each other.
      if (seen.length % 7 === 0) await sleep(3)
      response.writeHead(204).end()
    })
    const { port } = await listening(server)
    cleanup.push(async () => void server.close())
    const sender = newSender()
    const wanted: string[] = []
    let n = 0
    async function sendSome(): Promise<void> {
      for (let i = 0; i < 40; i++) {
        const body = Buffer.from(String(++n).repeat(1 + ((n * 211) % 4_000)))
        wanted.push(`${n} ${body.length} ${hash('sha256', body)}`)
        const sending = sender.send({ url: `http://127.0.0.1:${port}/`, headers: { 'x-a': String(n) }, body })
        expect(await sending).toMatchObject({ status: 204, error: null })
      }
    }
    await Promise.all(Array.from({ length: 25 }, sendSome))
    expect(seen.sort()).toEqual(wanted.sort())
  })
})

describe('header injection', () => {
  test.each([
    { 'a\r\nevil': '1' },
    { 'a\u010aevil': '1' },
    { 'a b': '1' },
    { a: '1\r\nevil: 2' },
    { a: '1\u010aevil: 2' },
    { 'content-length': '1' },
    { 'Transfer-Encoding': 'chunked' },
  ])('the headers %j are not sent', async (headers) => {
    const at = await receiver({ onRequest: (socket) => socket.write(content) })
    const outcome = await newSender().send({
      url: urlOf(at),
      headers: headers as never,
      body: Buffer.from('{}'),
    })
    expect(outcome).toMatchObject({ status: null, error: expect.stringContaining('could not be sent') })
    expect(at.received()).toBe('')
  })
})

describe('connections', () => {
  test('connections are reused, for one request at a time', async () => {
    const at = await receiver({ onRequest: (socket) => setImmediate(() => socket.write(content)) })
    const sender = newSender()
    const many = async () => {
      for (let turn = 0; turn < 20; turn++) expect((await post(sender, urlOf(at))).status).toBe(200)
    }
    await Promise.all(Array.from({ length: 8 }, many))
    // A connection is free again a moment after its response has ended, so there may be some more than 8.
    expect(at.connections()).toBeLessThanOrEqual(16)
  })

  test('connections are closed when the receiver asks for it', async () => {
    const hints = ['connection: close\r\n', 'keep-alive: timeout=2\r\n']
    for (const hint of hints) {
      const at = await receiver({ onRequest: (socket) => socket.write(answerOf('200 OK', 'ok', hint)) })
      await post(newSender(), urlOf(at))
      await expect.poll(() => at.closed()).toBe(1)
    }
  })

  test('connections are renewed after five minutes, so that a DNS change takes effect', async () => {
    const at = await receiver({ onRequest: (socket) => socket.write(content) })
    const sender = newSender()
    vi.useFakeTimers({ toFake: ['Date'] })
    cleanup.push(async () => void vi.useRealTimers())
    for (const minutes of [0, 1, 2]) {
      vi.advanceTimersByTime(minutes * 60_000)
      await post(sender, urlOf(at))
      await becomesIdle()
    }
    expect(at.connections()).toBe(1)
    vi.advanceTimersByTime(2 * 60_000 + 1_000)
    await post(sender, urlOf(at))
    expect(at.connections()).toBe(2)
  })

  test('connections idle for 4 s are closed, since the receiver may be closing them', async () => {
    const at = await receiver({ onRequest: (socket) => socket.write(content) })
    await post(newSender(), urlOf(at))
    const idleAt = performance.now()
    await expect.poll(() => at.closed()).toBe(1)
    expect(performance.now() - idleAt).toBeGreaterThan(3_000)
  })

  test('connections beyond 2,000 are closed after one request', async () => {
    const at = await receiver({ onRequest: (socket) => setImmediate(() => socket.write(content)) })
    const sender = newSender({ maxOpenConnections: 5 })
    await Promise.all(Array.from({ length: 20 }, () => post(sender, urlOf(at))))
    await expect.poll(() => at.connections() - at.closed()).toBeLessThanOrEqual(5)
  })

  /** Answers the first request of this many connections and closes them at the second. Further connections are closed. */
  const closingOnReuse = (connections: number) => {
    const used = new Set<unknown>()
    return receiver({
      onRequest: (socket) => {
        if (used.has(socket) || used.size >= connections) return socket.destroy()
        used.add(socket)
        socket.write(content)
      },
    })
  }

  test('a request on a reused connection that the receiver closed is sent again on a new one', async () => {
    const at = await closingOnReuse(2)
    const sender = newSender()
    expect(await post(sender, urlOf(at))).toMatchObject({ status: 200 })
    await becomesIdle()
    expect(await post(sender, urlOf(at), '{"second":true}')).toMatchObject({ status: 200, error: null })
    expect(at.connections()).toBe(2)
    expect(at.received().split('{"second":true}')).toHaveLength(3)
  })

  test('a request is sent at most twice, and once on a new connection', async () => {
    const at = await closingOnReuse(1)
    const sender = newSender()
    await post(sender, urlOf(at))
    await becomesIdle()
    const error = 'closed the connection without an answer'
    expect(await post(sender, urlOf(at))).toMatchObject({ status: null, error })
    expect(at.connections()).toBe(2)
    expect(await post(sender, urlOf(at))).toMatchObject({ status: null, error })
    expect(at.connections()).toBe(3)
  })

  test('a request is not sent again after the response began', async () => {
    let requests = 0
    const at = await receiver({
      onRequest: (socket) => (++requests === 1 ? socket.write(content) : socket.end('HTTP/1.1 20')),
    })
    const sender = newSender()
    await post(sender, urlOf(at))
    await becomesIdle()
    expect(await post(sender, urlOf(at))).toMatchObject({ status: null, error: expect.any(String) })
    expect(requests).toBe(2)
  })
})

test('a pool is dropped when its target has no connection left, also after an aborted send', async () => {
  const pools = new TargetPools({})
  const at = await receiver({ onRequest: () => undefined })
  const url = new URL(urlOf(at))
  const ended = new Promise((resolve) =>
    pools.of(url).dispatch(
      { path: '/', method: 'POST' },
      {
        onRequestStart: (controller) => void setTimeout(() => controller.abort(new Error('over')), 10),
        ...{ onResponseStart() {}, onResponseData() {}, onResponseEnd() {} },
        onResponseError: resolve,
      },
    ),
  )
  const first = pools.of(url)
  await ended
  await expect.poll(() => pools.of(url) === first).toBe(false)
  await pools.destroy()
})

describe('name resolution', () => {
  const failing = (code: string) => () => Promise.reject(Object.assign(new Error('10.9.8.7'), { code }))

  test.each([
    ['ENOTFOUND', 'the name hooks.example was not found'],
    ['EAI_AGAIN', 'the name hooks.example could not be resolved'],
    ['EAI_FAIL', 'the name hooks.example could not be resolved'],
    ['ETIMEOUT', 'the name hooks.example could not be resolved: its name servers do not answer'],
  ])('%s is reported in words without the address', async (code, error) => {
    const answer = await post(newSender({ resolve: failing(code) }), 'https://hooks.example/a?b=c')
    expect(answer).toMatchObject({ status: null, body: null, error, isBlocked: false })
  })

  test('concurrent requests to a name resolve it once', async () => {
    const at = await receiver({ onRequest: (socket) => socket.write(content) })
    let asked = 0
    const resolve = async () => {
      asked++
      return [{ address: '127.0.0.1', family: 4 }]
    }
    const sender = newSender({ resolve })
    const url = `http://hooks.example:${at.port}/`
    await Promise.all(Array.from({ length: 20 }, () => post(sender, url)))
    expect([asked, at.connections()]).toEqual([1, 20])
  })

  test('the address that answers is used', async () => {
    const at = await receiver({ host: '127.0.0.2', onRequest: (socket) => socket.write(content) })
    const resolve = async () => ['127.0.0.3', '127.0.0.2'].map((address) => ({ address, family: 4 }))
    const answer = await post(newSender({ resolve }), `http://hooks.example:${at.port}/`)
    expect(answer).toMatchObject({ status: 200, error: null })
  })

  test('when no address answers the error does not name them', async () => {
    const at = await startRawReceiver({})
    await at.close()
    const resolve = async () => ['127.0.0.3', '127.0.0.2'].map((address) => ({ address, family: 4 }))
    const answer = await post(newSender({ resolve }), `http://hooks.example:${at.port}/`)
    expect(answer).toMatchObject({ status: null, error: 'connection refused' })
  })
})

describe('aborted requests', () => {
  const stopped = 'aborted, because Jeton was shutting down'

  test('an abort signal ends a request and its connection at once', async () => {
    const giveUp = new AbortController()
    const at = await receiver({ onRequest: () => giveUp.abort() })
    const sends = Array.from({ length: 30 }, () => post(newSender(), urlOf(at), '{}', giveUp.signal))
    for (const answer of await Promise.all(sends))
      expect(answer).toMatchObject({ status: null, error: stopped })
    await expect.poll(() => at.connections() - at.closed()).toBe(0)
    expect(await post(newSender(), urlOf(at), '{}', giveUp.signal)).toMatchObject({ error: stopped })
  })

  test('closing the sender ends requests at once, and nothing is sent afterwards', async () => {
    const sender = newSender()
    const at = await receiver({ onRequest: () => void sender.close() })
    expect(await post(sender, urlOf(at))).toMatchObject({ status: null, error: stopped })
    await expect.poll(() => at.closed()).toBe(1)
    expect(await post(sender, urlOf(at))).toMatchObject({ error: stopped })
    expect(at.connections()).toBe(1)
  })

  test('a request aborted while connecting never reaches the receiver', async () => {
    const at = await receiver({ onRequest: (socket) => socket.write(content) })
    let found: (list: { address: string; family: number }[]) => void = () => undefined
    const sender = newSender({ resolve: () => new Promise((answer) => (found = answer)), deadlineMs: 100 })
    const answer = await post(sender, `http://hooks.example:${at.port}/`)
    expect(answer.error).toBe('no connection within 0.1 s')
    found([{ address: '127.0.0.1', family: 4 }])
    // When a later send is served, an earlier one would have arrived.
    await post(newSender(), urlOf(at))
    await expect.poll(() => at.connections() - at.closed()).toBeLessThanOrEqual(1)
    expect(at.received().split('POST ')).toHaveLength(2)
  })
})

describe('idle connections', () => {
  /** Changes an idle connection just when it is reused, before anything is written. Returns how often the request arrived. */
  async function usedWhen(happens: (socket: Socket) => unknown) {
    let idle: Socket | undefined
    const at = await receiver({
      onConnection: (socket) => {
        idle ??= socket
      },
      onRequest: (socket) => socket.write(content),
    })
    const sender = newSender()
    await post(sender, urlOf(at), '{"first":1}')
    const answer = await new Promise((resolve) =>
      setTimeout(() => {
        happens(idle!)
        resolve(post(sender, urlOf(at), '{"second":1}'))
      }),
    )
    const times = at.received().split('{"second":1}').length - 1
    return { answer, times, connections: at.connections() }
  }

  const well = { answer: { status: 200, body: 'ok', error: null }, times: 1, connections: 2 }

  test('an idle connection that was closed costs only a new connection', async () => {
    expect(await usedWhen((socket) => socket.end())).toMatchObject(well)
    expect(await usedWhen((socket) => socket.resetAndDestroy())).toMatchObject(well)
  })

  test('bytes on an idle connection are no response', async () => {
    expect(await usedWhen((socket) => socket.write(answerOf('408 Request Timeout', 'late')))).toMatchObject(
      well,
    )
    expect(await usedWhen((socket) => socket.end(answerOf('200 OK', 'never')))).toMatchObject(well)
  })

  test('an idle connection serves one request after the other', async () => {
    expect(await usedWhen(() => undefined)).toMatchObject({ ...well, connections: 1 })
  })

  test('an idle connection sends nothing once the sender is closed', async () => {
    const at = await receiver({ onRequest: (socket) => socket.write(content) })
    const sender = newSender()
    await post(sender, urlOf(at), '{"first":1}')
    const second = post(sender, urlOf(at), '{"second":1}')
    await sender.close()
    expect((await second).error).toContain('aborted, because Jeton was shutting down')
    await sleep(20)
    expect(at.received()).not.toContain('"second"')
  })
})
