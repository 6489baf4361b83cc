import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../../../test/service.ts'
import { TestClock } from '../../../test/test-clock.ts'
import { createMetrics } from '../metrics.ts'
import { createHttp, fastifyHandler, type Http, type HttpDeps } from './index.ts'

const DEPS: HttpDeps = {
  clock: new TestClock(),
  fastPath: true,
  log: silentLog(),
  metrics: createMetrics(),
  trustedProxies: [],
  managementAllow: [],
  requestLogLevel: 'debug',
  guards: { operator: () => undefined, scope: () => undefined },
  onRefusal: () => undefined,
  publicUrl: () => 'http://jeton.example',
}
const FORM = 'Content-Type: application/x-www-form-urlencoded\r\n'
const FAST = `POST /fast HTTP/1.1\r\nHost: x\r\n${FORM}`
const WHOLE = `${FAST}Content-Length: 3\r\n\r\na=b`

/** More than the buffers of both ends hold. */
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'x')

/** A server with a route for the fast path and one for Fastify alone. */
async function serve(timeouts?: HttpDeps['timeouts']): Promise<{ http: Http; port: number }> {
  const http = createHttp({ ...DEPS, ...(timeouts && { timeouts }) })
  const fast = () => ({ headers: [], text: 'answered' })
  const config = { access: 'public', bodyType: 'form', fast } as const
  http.app.post('/fast', { config }, fastifyHandler(fast))
  http.app.post('/slow', { config: { access: 'public' } }, async () => 'answered')
  http.app.get('/large', { config: { access: 'public' } }, async (_, reply) => reply.send(LARGE))
  await http.app.listen({ port: 0, host: '127.0.0.1' })
  return { http, port: (http.app.server.address() as AddressInfo).port }
}

interface Held {
  /** Sent immediately, and answered. */
  readonly first?: string
  readonly bytes: string
  /** Sent afterwards, a byte at a time. */
  readonly drip?: string
}

/** Returns how long the connection was open after its first byte, or after it was opened, and the last response. */
async function heldFor(port: number, { first, bytes, drip = '' }: Held, everyMs: number) {
  let began = performance.now()
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let heard = ''
  socket.on('data', (chunk) => (heard += chunk)).on('error', () => undefined)
  await once(socket, 'connect')
  if (first) {
    socket.write(first)
    while (!heard.includes('answered')) await once(socket, 'data')
  }
  if (bytes) began = performance.now()
  if (bytes) socket.write(bytes)
  let sent = 0
  const dripping = setInterval(() => socket.write(drip[sent++ % drip.length] ?? ''), everyMs)
  await once(socket, 'end')
  clearInterval(dripping)
  socket.destroy()
  return { ms: performance.now() - began, last: heard.split('HTTP/1.1 ').pop() }
}

const HEADS: [string, Held][] = [
  ['a connection on which nothing is sent', { bytes: '' }],
  ['a head that breaks off', { bytes: FAST }],
  ['a head of another route that breaks off', { bytes: 'POST /slow HTTP/1.1\r\nHost: x\r\n' }],
  ['a head that drips', { bytes: `${FAST}X-Long: `, drip: 'x' }],
  ['a head that breaks off after a whole request', { first: WHOLE, bytes: FAST }],
]
const BODIES: [string, Held][] = [
  ['a body that never comes', { bytes: `${FAST}Content-Length: 900\r\n\r\n` }],
  ['a body that breaks off', { bytes: `${FAST}Content-Length: 900\r\n\r\na=` }],
  ['a body that drips', { bytes: `${FAST}Content-Length: 900\r\n\r\n`, drip: 'a' }],
  ['a chunked body that drips', { bytes: `${FAST}Transfer-Encoding: chunked\r\n\r\n`, drip: '1\r\na\r\n' }],
  [
    'a JSON body that drips',
    {
      bytes:
        'POST /slow HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n',
      drip: ' ',
    },
  ],
  [
    'a body that drips after a whole request',
    { first: WHOLE, bytes: `${FAST}Content-Length: 900\r\n\r\n`, drip: 'a' },
  ],
]

describe('a client that takes too long gets 408 in time:', () => {
  const timeouts = { headersMs: 600, requestMs: 1_500, stalledMs: 60_000, checkEveryMs: 50 }
  /** Twice the check interval, plus the delay of a busy machine. */
  const LATE_MS = 800
  let http: Http
  let port: number
  beforeAll(async () => ({ http, port } = await serve(timeouts)))
  afterAll(() => http.app.close())

  test.concurrent.each(HEADS)('%s', async (_, held) => {
    const { ms, last } = await heldFor(port, held, 90)
    expect(last).toMatch(/^408 .*"key":"request_timeout"/s)
    expect(ms).toBeGreaterThan(timeouts.headersMs - 1)
    expect(ms).toBeLessThan(timeouts.headersMs + LATE_MS)
  })

  test.concurrent.each(BODIES)('%s', async (_, held) => {
    const { ms, last } = await heldFor(port, held, 90)
    expect(last).toMatch(/^408 .*"key":"request_timeout"/s)
    expect(ms).toBeGreaterThan(timeouts.requestMs - 1)
    expect(ms).toBeLessThan(timeouts.requestMs + LATE_MS)
  })
})

test('by default a head may take 10 s and a whole request 30 s', async () => {
  const { http, port } = await serve()
  const held = await Promise.all(HEADS.map(([, one]) => heldFor(port, one, 1_000)))
  for (const { ms } of held) {
    expect(ms).toBeGreaterThan(9_990)
    expect(ms).toBeLessThan(12_000)
  }
  expect(http.app.server.requestTimeout).toBe(30_000)
  await http.app.close()
}, 60_000)

describe('a connection without progress', () => {
  const timeouts = { headersMs: 10_000, requestMs: 30_000, stalledMs: 400, checkEveryMs: 50 }
  let http: Http
  let port: number
  beforeAll(async () => ({ http, port } = await serve(timeouts)))
  afterAll(() => http.app.close())

  const isOpen = (): Promise<boolean> =>
    new Promise((resolve) => http.app.server.getConnections((_, count) => resolve(count > 0)))

  async function clientThatSends(bytes: string) {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => undefined)
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    socket.write(bytes)
    await expect.poll(isOpen, { interval: 5 }).toBe(true)
    return socket
  }
  const large = 'GET /large HTTP/1.1\r\nHost: x\r\n\r\n'

  test('a connection is cut if the client never reads its response', async () => {
    await clientThatSends(large)
    await expect.poll(isOpen).toBe(false)
  })

  test('a connection is kept if the client reads slowly', async () => {
    const socket = await clientThatSends(large)
    let read = 0
    socket.on('data', (chunk) => {
      read += chunk.length
      socket.pause()
      setTimeout(() => socket.resume(), 2)
    })
    await expect.poll(() => read, { timeout: 60_000 }).toBeGreaterThan(LARGE.length)
  })

  test('a connection is cut if the client never closes after the server has', async () => {
    const socket = await clientThatSends('no HTTP\r\n\r\n')
    socket.resume()
    await once(socket, 'end')
    await expect.poll(isOpen).toBe(false)
  })

  test.each([
    ['with the fast path', WHOLE],
    ['without it', 'POST /slow HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('a connection is kept between two requests, %s', async (_, bytes) => {
    const socket = await clientThatSends(bytes)
    socket.resume()
    await wait(timeouts.stalledMs * 4)
    expect(await isOpen()).toBe(true)
    expect(http.app.server.keepAliveTimeout).toBe(72_000)
    socket.destroy()
    await expect.poll(isOpen).toBe(false)
  })
})
