import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AccessLogEntry, ApiRequest } from '../app.ts'
import { FastPathServer } from './connection.ts'

const TIMES = { keepAliveMs: 1_000, firstByteMs: 300, checkEveryMs: 50 }

let server: Server
let fastPath: FastPathServer
let stopping: boolean
/** The paths of the requests that Node has served. */
let byNode: string[]
let recorded: AccessLogEntry[]
let refused: string[]
let handedOver: string[]
const clients: Socket[] = []
/** Lets the request that waits continue. */
let proceed: () => void

async function respond({ raw, body }: Pick<ApiRequest, 'raw' | 'body'>) {
  const said = (body as Map<string, string>).get('say') ?? ''
  if (said === 'refuse' || said === 'bug') throw new Error(said)
  if (said === 'wait') await new Promise<void>((resolve) => (proceed = resolve))
  if (said === 'split') return { headers: ['x-said', 'a\r\nx-forged: b'], text: '' }
  return { headers: ['x-said', said], text: `${raw.headers['x-name'] ?? 'nobody'} said ${said}` }
}

beforeEach(async () => {
  byNode = []
  recorded = []
  refused = []
  handedOver = []
  stopping = false
  server = createServer({ keepAliveTimeout: 5_000 })
  const [node] = server.listeners('connection') as [(socket: Socket) => void]
  server.off('connection', node)
  server.on('connection', (socket) => {
    handedOver.push(socket.destroyed ? 'closed' : 'open')
    node.call(server, socket)
  })
  server.on('request', async (request, response) => {
    byNode.push(request.url!)
    if (request.url !== '/say') return response.end(`Node has ${request.url}`)
    const body = new Map(new URLSearchParams(await readText(request)))
    response.end((await respond({ raw: request, body })).text)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    refused.push(error.code!)
    socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
  })
  fastPath = new FastPathServer({
    ...TIMES,
    isStopping: () => stopping,
    callerOf: ({ socket }) => ({ ip: socket.remoteAddress ?? null, socket: 'x', forwarded: null }),
    toErrorResponse: (error) => {
      const why = (error as Error).message === 'bug' ? 'a\r\nx-forged: b' : 'because'
      return { status: 403, headers: { 'x-why': why }, text: 'no – never' }
    },
  })
  fastPath.routes.add({ url: '/say', method: 'POST', config: { fast: respond, bodyType: 'form' } } as never, {
    config: {},
    headers: ['x-route', 'fast'],
    check: () => undefined,
    record: (entry) => recorded.push(entry),
    enterSpan: undefined,
    begin: () => undefined,
  })
  fastPath.attachTo(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy()
  fastPath.closeAll()
  server.close().closeAllConnections()
})

const say = (said: string, headers = ''): string =>
  `POST /say HTTP/1.1\r\nHost: x\r\n${headers}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${said.length + 4}\r\n\r\nsay=${said}`

async function client() {
  const { port } = server.address() as AddressInfo
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  clients.push(socket)
  let text = ''
  let isClosed = false
  socket.on('data', (chunk) => (text += chunk))
  socket.on('error', () => undefined).on('end', () => (isClosed = true))
  await once(socket, 'connect')
  return {
    socket,
    write: (bytes: string) => void socket.write(bytes),
    received: (what: string) => expect.poll(() => text).toContain(what),
    closed: () => expect.poll(() => isClosed, { timeout: 5_000 }).toBe(true),
    text: () => text,
    responses: () => text.split('HTTP/1.1 ').length - 1,
  }
}

test('the fast path answers simple requests one after the other, as Node would', async () => {
  const { write, received, text } = await client()
  for (const said of ['one', 'two', 'three']) {
    write(say(said, 'X-Name: Ann\r\n'))
    await received(`Ann said ${said}`)
  }
  expect(byNode).toEqual([])
  expect(text()).toMatch(
    /^HTTP\/1\.1 200 OK\r\nx-request-id: v-\w{18}\r\nx-route: fast\r\nx-said: one\r\ncontent-length: 12\r\nDate: .* GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=1\r\n\r\nAnn said one/,
  )
  const one = { status: 200, method: 'POST', url: '/say', caller: { ip: '127.0.0.1' } }
  expect(recorded).toMatchObject([one, one, one])
})

test('the fast path refuses requests and keeps their connection', async () => {
  const { write, received } = await client()
  write(say('refuse'))
  await received('HTTP/1.1 403 Forbidden')
  await received('x-why: because\r\ncontent-length: 12\r\n')
  await received('no – never')
  write(say('again'))
  await received('nobody said again')
  expect([byNode, recorded.map(({ status }) => status)]).toEqual([[], [403, 200]])
})

test('a header that would break the response is never sent', async () => {
  const { write, received, text } = await client()
  write(say('split'))
  await received('HTTP/1.1 403')
  expect(text()).not.toContain('forged')
})

test('if a header of an error would break the response, the connection is closed without one', async () => {
  const { write, closed, text } = await client()
  write(say('bug'))
  await closed()
  expect(text()).toBe('')
})

test('an empty line between two requests is ignored', async () => {
  const { write, received } = await client()
  write(say('one'))
  await received('said one')
  write('\r\n')
  await wait(20)
  write(say('wait'))
  await wait(20)
  write('\r\n')
  await wait(20)
  proceed()
  await received('said wait')
  write(say('three'))
  await received('said three')
  expect(handedOver).toEqual([])
})

test('a body may arrive after its head; a request in more pieces is left to Node', async () => {
  const { write, received, responses } = await client()
  const [head, body] = [say('later').slice(0, -5), 'later']
  write(head)
  await wait(30)
  write(body)
  await received('nobody said later')
  expect(byNode).toEqual([])
  for (const piece of [head, 'lat', 'er']) {
    write(piece)
    await wait(20)
  }
  await expect.poll(responses).toBe(2)
  expect(byNode).toEqual(['/say'])
})

test('a request whose body is late is left to Node', async () => {
  const { write, received } = await client()
  write(say('late').slice(0, -4))
  // In steps: if the machine stalls meanwhile, the server still runs its check in one of them.
  for (let i = 0; i < 6; i++) await wait(TIMES.checkEveryMs)
  write('late')
  await received('nobody said late')
  expect(byNode).toEqual(['/say'])
})

test.each([
  ['another path', 'GET /other HTTP/1.1\r\nHost: x\r\n\r\n', 'Node has /other'],
  [
    'a chunked request',
    say('x', 'Transfer-Encoding: chunked\r\n')
      .replace(/Content-Length: \d+\r\n/, '')
      .replace('say=x', '5\r\nsay=x\r\n0\r\n\r\n'),
    'nobody said x',
  ],
  ['an older version', say('x').replace('1.1', '1.0'), 'nobody said x'],
  ['two requests at once', say('x') + say('y'), 'nobody said y'],
])('%s is left to Node, and so is everything after it', async (_, bytes, expected) => {
  const { write, received } = await client()
  write(say('first'))
  await received('nobody said first')
  expect(byNode).toEqual([])
  write(bytes)
  await received(expected)
  expect(byNode).not.toEqual([])
})

test('a head in two pieces is left to Node', async () => {
  const { write, received } = await client()
  write(say('x').slice(0, 30))
  await wait(30)
  write(say('x').slice(30))
  await received('nobody said x')
  expect(byNode).toEqual(['/say'])
})

test('pipelined requests are answered in order', async () => {
  const { write, received, text } = await client()
  write(say('wait'))
  await expect.poll(() => proceed).toBeDefined()
  write(say('second'))
  write(say('third'))
  await wait(50)
  expect(text()).toBe('')
  proceed()
  await received('said third')
  expect(text()).toMatch(/said wait.*said second.*said third/s)
})

test('a client that asks to close, or has half closed, is answered first', async () => {
  const first = await client()
  first.write(say('bye', 'Connection: close\r\n'))
  await first.received('Connection: close\r\n\r\nnobody said bye')
  await first.closed()
  const second = await client()
  second.write(say('wait'))
  second.socket.end()
  await wait(50)
  proceed()
  await second.received('nobody said wait')
  await second.closed()
  expect(byNode).toEqual([])
})

test('an incomplete request is refused', async () => {
  const { socket, write, received } = await client()
  write(say('never').slice(0, -3))
  await wait(20)
  socket.end()
  await received('400 Bad Request')
  expect(refused).toEqual(['HPE_INVALID_EOF_STATE'])
})

test('a client that disconnects before its response affects nobody else', async () => {
  const { socket, write } = await client()
  write(say('wait'))
  await wait(30)
  socket.resetAndDestroy()
  await wait(30)
  proceed()
  await expect.poll(() => recorded.length).toBe(1)
  const next = await client()
  next.write(say('still here'.replace(' ', '+')))
  await next.received('still here')
})

test('a closed connection with a pipelined request is never handed to Node', async () => {
  const { socket, write } = await client()
  write(say('wait'))
  await wait(30)
  write(say('second'))
  await wait(30)
  socket.resetAndDestroy()
  await wait(30)
  proceed()
  await expect.poll(() => recorded.length).toBe(1)
  expect(handedOver).not.toContain('closed')
})

test('a connection without a first or a further request is closed in time', async () => {
  const silent = await client()
  await silent.closed()
  expect(refused).toEqual(['ERR_HTTP_REQUEST_TIMEOUT'])
  expect(handedOver).toEqual([])
  const idle = await client()
  idle.write(say('once'))
  await idle.received('once')
  await idle.closed()
})

test('a client that does not read is handed to Node and eventually gets every response', async () => {
  const { socket, write, responses } = await client()
  const said = 'x'.repeat(60_000)
  socket.pause()
  let sent = 0
  while (byNode.length === 0 && sent < 2_000) {
    write(say(said))
    sent++
    await wait(1)
  }
  expect(byNode).not.toEqual([])
  socket.resume()
  await expect.poll(responses, { timeout: 20_000 }).toBe(sent)
}, 60_000)

test('during a shutdown every response is the last one, and a request in flight is not cut off', async () => {
  const [busy, idle] = [await client(), await client()]
  busy.write(say('wait'))
  idle.write(say('before'))
  await idle.received('keep-alive')
  stopping = true
  const fresh = await client()
  fastPath.closeIdle()
  await idle.closed()
  fresh.write(say('just in time'.replaceAll(' ', '+')))
  await fresh.received('Connection: close\r\n\r\nnobody said just in time')
  proceed()
  await busy.received('Connection: close\r\n\r\nnobody said wait')
  await busy.closed()
})

test('a server with a second connection listener is refused at start', () => {
  const other = createServer()
  other.on('connection', () => undefined)
  expect(() => fastPath.attachTo(other)).toThrow('Expected one connection listener')
})
