import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { limitPipelining, MAX_REQUESTS_IN_FLIGHT, pipelineOf, takeConnectionListener } from './pipelining.ts'

let server: Server
/** Answers a request; replaced by tests that answer later. */
let handle: (request: IncomingMessage, response: ServerResponse) => void
/** Number of requests that were parsed and not answered, and its maximum. */
let inFlight: number
let most: number
let broken: number
const clients: Socket[] = []

beforeEach(async () => {
  ;[inFlight, most, broken] = [0, 0, 0]
  handle = async (request, response) => response.end(`${request.url} ${await text(request)}|`)
  server = createServer((request, response) => {
    pipelineOf(request.socket)?.begin(request, response)
    most = Math.max(most, ++inFlight)
    response.once('close', () => inFlight--)
    handle(request, response)
  })
  server.on('clientError', (_, socket) => {
    broken++
    if (pipelineOf(socket as Socket)?.fail()) socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
  })
  limitPipelining(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy()
  server.close().closeAllConnections()
})

async function client() {
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', noDelay: true })
  clients.push(socket)
  let read = ''
  socket.on('data', (chunk) => (read += chunk)).on('error', () => undefined)
  await once(socket, 'connect')
  return {
    socket,
    read: () => read,
    /** URLs that were answered, in the order of the responses. */
    answered: () => [...read.matchAll(/\/(\d+) (\w*)\|/g)].map(([, url, body]) => `${url}${body}`),
  }
}

const get = (i: number) => `GET /${i} HTTP/1.1\r\nHost: x\r\n\r\n`
const post = (i: number, body: string) =>
  `POST /${i} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const chunked = (i: number) =>
  `POST /${i} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n`
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

test('a connection has at most 16 requests in flight, and each response admits one more', async () => {
  const waiting: ServerResponse[] = []
  let arrived = 0
  handle = (_, response) => {
    arrived++
    waiting.push(response)
  }
  const { socket, read } = await client()
  socket.write(numbers(500).map(get).join(''))
  await expect.poll(() => arrived).toBe(MAX_REQUESTS_IN_FLIGHT)
  for (let taken = 0; taken < 484; taken++) {
    waiting.shift()!.end('|')
    await expect.poll(() => arrived, { interval: 1 }).toBe(MAX_REQUESTS_IN_FLIGHT + taken + 1)
  }
  expect(waiting).toHaveLength(MAX_REQUESTS_IN_FLIGHT)
  for (const response of waiting) response.end('|')
  await expect.poll(() => read().split('|').length - 1).toBe(500)
  expect(most).toBe(MAX_REQUESTS_IN_FLIGHT)
})

test.each([
  ['in one piece', 1_000_000],
  ['in pieces of 7 bytes', 7],
  ['in pieces of 64 bytes', 64],
])('pipelined requests of every kind, sent %s, are answered in order', async (_, size) => {
  const count = size < 64 ? 60 : 600
  const kinds = [get, (i: number) => post(i, 'c'), chunked, (i: number) => `\r\n${get(i)}`]
  const bytes = numbers(count).map((i) => kinds[i % kinds.length]!(i))
  const { socket, answered } = await client()
  const all = bytes.join('')
  for (let at = 0; at < all.length; at += size) {
    socket.write(all.slice(at, at + size))
    if (size < 1000) await new Promise(setImmediate)
  }
  const bodies = ['', 'c', 'ab', '']
  await expect.poll(() => answered().length, { timeout: 10_000 }).toBe(count)
  expect(answered()).toEqual(numbers(count).map((i) => `${i}${bodies[i % bodies.length]}`))
  expect(most).toBeLessThanOrEqual(MAX_REQUESTS_IN_FLIGHT)
  expect(broken).toBe(0)
})

test('a body of empty lines is read completely', async () => {
  handle = async (request, response) => response.end(`/1 ${(await text(request)).length}|`)
  const { socket, answered } = await client()
  socket.write(post(1, '\r\n'.repeat(200_000)))
  await expect.poll(answered).toEqual(['1400000'])
})

test('a client that sends requests and does not read gets every response once it reads', async () => {
  const large = 'x'.repeat(50_000)
  let isStopped = () => false
  handle = (request, response) => {
    isStopped = () => request.socket.isPaused() && request.socket.writableLength > 0
    response.end(`${request.url} ${large}|`)
  }
  const { socket, answered } = await client()
  socket.pause()
  const sent = numbers(2_000)
  socket.write(sent.map(get).join(''))
  await expect.poll(() => isStopped()).toBe(true)
  socket.resume()
  await expect.poll(() => answered().length, { timeout: 20_000 }).toBe(sent.length)
  expect(answered()).toEqual(sent.map((i) => `${i}${large}`))
  expect(most).toBeLessThanOrEqual(MAX_REQUESTS_IN_FLIGHT)
}, 30_000)

test('a connection is closed after a malformed request, once the requests before it are answered', async () => {
  const { socket, read, answered } = await client()
  socket.write(`${numbers(3).map(get).join('')}no HTTP\r\n\r\n${numbers(100).map(get).join('')}`)
  await once(socket, 'close')
  expect(broken).toBe(1)
  expect(answered()).toEqual(['0', '1', '2'])
  expect(read()).not.toContain('400 Bad Request')
})

test('a malformed request is answered if nothing else is in flight', async () => {
  const { socket, read, answered } = await client()
  socket.write(get(7))
  await expect.poll(answered).toEqual(['7'])
  socket.write('no HTTP\r\n\r\n')
  await once(socket, 'close')
  expect(read()).toContain('400 Bad Request')
})

test('a server with a second connection listener is refused', () => {
  const other = createServer()
  other.on('connection', () => undefined)
  expect(() => takeConnectionListener(other)).toThrow('Expected one connection listener')
})
