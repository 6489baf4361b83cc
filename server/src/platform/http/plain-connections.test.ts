import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PlainConnections } from './plain-connections.ts'
import { type Asked, QuickLanes, type Recorded } from './quick-answers.ts'

const TIMES = { keepAliveMs: 1_000, silentMs: 300, lookEveryMs: 50 }

let server: Server
let connections: PlainConnections
let stopping: boolean
/** What went Node's way, and what was answered on either. */
let byNode: string[]
let recorded: Recorded[]
let broken: string[]
let handedOver: string[]
const clients: Socket[] = []
/** Lets the request that waits go on. */
let goOn: () => void

async function answer({ raw, body }: Asked) {
  const said = (body as Map<string, string>).get('say') ?? ''
  if (said === 'refuse' || said === 'bug') throw new Error(said)
  if (said === 'wait') await new Promise<void>((resolve) => (goOn = resolve))
  if (said === 'split') return { headers: ['x-said', 'a\r\nx-forged: b'], text: '' }
  return { headers: ['x-said', said], text: `${raw.headers['x-name'] ?? 'nobody'} said ${said}` }
}

beforeEach(async () => {
  byNode = []
  recorded = []
  broken = []
  handedOver = []
  stopping = false
  const lanes = new QuickLanes({
    callerOf: ({ socket }) => ({ plain: socket.remoteAddress ?? null, socket: 'x', forwarded: null }),
    beforeAnswer: () => undefined,
    formLimitBytes: 1024 * 1024,
  })
  lanes.add({ url: '/say', method: 'POST', config: { quick: answer, takes: 'form' } } as never, {
    headers: ['x-lane', 'quick'],
    check: () => undefined,
    record: (answer) => recorded.push(answer),
    refuse: (fault) => {
      const why = (fault as Error).message === 'bug' ? 'a\r\nx-forged: b' : 'because'
      return { status: 403, headers: { 'x-why': why }, text: 'no – never' }
    },
  })
  server = createServer({ keepAliveTimeout: 5_000 })
  const [node] = server.listeners('connection') as [(socket: Socket) => void]
  server.off('connection', node)
  server.on('connection', (socket) => {
    handedOver.push(socket.destroyed ? 'gone' : 'open')
    node.call(server, socket)
  })
  server.on('request', (request, response) => response.end(`Node has ${request.url}`))
  lanes.standBefore(server)
  server.prependListener('request', ({ url }) => byNode.push(url!))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    broken.push(error.code!)
    socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
  })
  connections = new PlainConnections({ lanes, isStopping: () => stopping, ...TIMES })
  connections.standBefore(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy()
  connections.closeAll()
  server.close().closeAllConnections()
})

const ask = (said: string, more = ''): string =>
  `POST /say HTTP/1.1\r\nHost: x\r\n${more}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${said.length + 4}\r\n\r\nsay=${said}`

/** A client that keeps what it is told. */
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
    heard: (what: string) => expect.poll(() => text).toContain(what),
    closed: () => expect.poll(() => isClosed, { timeout: 5_000 }).toBe(true),
    text: () => text,
    answers: () => text.split('HTTP/1.1 ').length - 1,
  }
}

test('plain requests are answered by hand, one after the other, as Node would', async () => {
  const { write, heard, text } = await client()
  for (const said of ['one', 'two', 'three']) {
    write(ask(said, 'X-Name: Ann\r\n'))
    await heard(`Ann said ${said}`)
  }
  expect(byNode).toEqual([])
  expect(text()).toMatch(
    /^HTTP\/1\.1 200 OK\r\nx-request-id: v-\w{18}\r\nx-lane: quick\r\nx-said: one\r\ncontent-length: 12\r\nDate: .* GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=1\r\n\r\nAnn said one/,
  )
  const one = { status: 200, method: 'POST', url: '/say', caller: { plain: '127.0.0.1' } }
  expect(recorded).toMatchObject([one, one, one])
})

test('so is who is refused, and the connection goes on', async () => {
  const { write, heard } = await client()
  write(ask('refuse'))
  await heard('HTTP/1.1 403 Forbidden')
  await heard('x-why: because\r\ncontent-length: 12\r\n')
  await heard('no – never')
  write(ask('again'))
  await heard('nobody said again')
  expect([byNode, recorded.map(({ status }) => status)]).toEqual([[], [403, 200]])
})

test('a header that would break the answer is never sent', async () => {
  const { write, heard, text } = await client()
  write(ask('split'))
  await heard('HTTP/1.1 403')
  expect(text()).not.toContain('forged')
})

test('nor one of a refusal: then there is no answer at all', async () => {
  const { write, closed, text } = await client()
  write(ask('bug'))
  await closed()
  expect(text()).toBe('')
})

test('an empty line between two requests means nothing', async () => {
  const { write, heard } = await client()
  write(ask('one'))
  await heard('said one')
  write('\r\n')
  await wait(20)
  write(ask('wait'))
  await wait(20)
  write('\r\n')
  await wait(20)
  goOn()
  await heard('said wait')
  write(ask('three'))
  await heard('said three')
  expect(handedOver).toEqual([])
})

test('a body may come later; what comes in more pieces is left to Node', async () => {
  const { write, heard } = await client()
  const [head, body] = [ask('later').slice(0, -5), 'later']
  write(head)
  await wait(30)
  write(body)
  await heard('nobody said later')
  expect(byNode).toEqual([])
  for (const piece of [head, 'lat', 'er']) {
    write(piece)
    await wait(20)
  }
  await expect.poll(() => recorded.length).toBe(2)
  expect(byNode).toEqual(['/say'])
})

test('so is what does not come in time', async () => {
  const { write, heard } = await client()
  write(ask('late').slice(0, -4))
  // In steps: should the machine stand still meanwhile, what was written is heard in one of them.
  for (let i = 0; i < 6; i++) await wait(TIMES.lookEveryMs)
  write('late')
  await heard('nobody said late')
  expect(byNode).toEqual(['/say'])
})

test.each([
  ['another path', 'GET /other HTTP/1.1\r\nHost: x\r\n\r\n', 'Node has /other'],
  [
    'a request in pieces',
    ask('x', 'Transfer-Encoding: chunked\r\n')
      .replace(/Content-Length: \d+\r\n/, '')
      .replace('say=x', '5\r\nsay=x\r\n0\r\n\r\n'),
    'Node has /say',
  ],
  ['an older version', ask('x').replace('1.1', '1.0'), 'nobody said x'],
  ['two requests at once', ask('x') + ask('y'), 'nobody said y'],
])('%s is left to Node, and all that follows', async (_, bytes, told) => {
  const { write, heard } = await client()
  write(ask('first'))
  await heard('nobody said first')
  expect(byNode).toEqual([])
  write(bytes)
  await heard(told)
  expect(byNode).not.toEqual([])
})

test('a head in two halves is left to Node', async () => {
  const { write, heard } = await client()
  write(ask('x').slice(0, 30))
  await wait(30)
  write(ask('x').slice(30))
  await heard('nobody said x')
  expect(byNode).toEqual(['/say'])
})

test('who asks again before the answer is answered in turn', async () => {
  const { write, heard, text } = await client()
  write(ask('wait'))
  await expect.poll(() => goOn).toBeDefined()
  write(ask('second'))
  write(ask('third'))
  await wait(50)
  expect(text()).toBe('')
  goOn()
  await heard('said third')
  expect(text()).toMatch(/said wait.*said second.*said third/s)
})

test('who wants to close, or has half closed, is answered first', async () => {
  const first = await client()
  first.write(ask('bye', 'Connection: close\r\n'))
  await first.heard('Connection: close\r\n\r\nnobody said bye')
  await first.closed()
  const second = await client()
  second.write(ask('wait'))
  second.socket.end()
  await wait(50)
  goOn()
  await second.heard('nobody said wait')
  await second.closed()
  expect(byNode).toEqual([])
})

test('who breaks off is told so', async () => {
  const { socket, write, heard } = await client()
  write(ask('never').slice(0, -3))
  await wait(20)
  socket.end()
  await heard('400 Bad Request')
  expect(broken).toEqual(['HPE_INVALID_EOF_STATE'])
})

test('who is gone when the answer is there harms nobody', async () => {
  const { socket, write } = await client()
  write(ask('wait'))
  await wait(30)
  socket.resetAndDestroy()
  await wait(30)
  goOn()
  await expect.poll(() => recorded.length).toBe(1)
  const next = await client()
  next.write(ask('still here'.replace(' ', '+')))
  await next.heard('still here')
})

test('nor is who asked more than that, and is never handed over', async () => {
  const { socket, write } = await client()
  write(ask('wait'))
  await wait(30)
  write(ask('second'))
  await wait(30)
  socket.resetAndDestroy()
  await wait(30)
  goOn()
  await expect.poll(() => recorded.length).toBe(1)
  expect(handedOver).not.toContain('gone')
})

test('a connection without a request, or without a further one, is ended in time', async () => {
  const silent = await client()
  await silent.closed()
  expect(broken).toEqual(['ERR_HTTP_REQUEST_TIMEOUT'])
  expect(handedOver).toEqual([])
  const idle = await client()
  idle.write(ask('once'))
  await idle.heard('once')
  await idle.closed()
})

test('who does not read is not read from either, and gets every answer in the end', async () => {
  const { socket, write, answers } = await client()
  const said = 'x'.repeat(60_000)
  socket.pause()
  let asked = 0
  while (byNode.length === 0 && asked < 2_000) {
    write(ask(said))
    asked++
    await wait(1)
  }
  expect(byNode).not.toEqual([])
  socket.resume()
  await expect.poll(answers, { timeout: 20_000 }).toBe(asked)
}, 60_000)

test('while stopping, every answer is the last, and who waits is not cut off', async () => {
  const [busy, idle] = [await client(), await client()]
  busy.write(ask('wait'))
  idle.write(ask('before'))
  await idle.heard('keep-alive')
  stopping = true
  const fresh = await client()
  connections.closeIdle()
  await idle.closed()
  fresh.write(ask('just in time'.replaceAll(' ', '+')))
  await fresh.heard('Connection: close\r\n\r\nnobody said just in time')
  goOn()
  await busy.heard('Connection: close\r\n\r\nnobody said wait')
  await busy.closed()
})
