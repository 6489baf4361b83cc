import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { cutWhoNeverRead } from './never-read.ts'

const TIMES = { lookEveryMs: 20, silentMs: 400 }
/** More than the buffers of both ends hold. */
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'x')

let server: Server
const clients: Socket[] = []

async function ask(): Promise<Socket> {
  const { port } = server.address() as AddressInfo
  const client = connect(port, '127.0.0.1')
  clients.push(client)
  client.on('error', () => undefined)
  await once(client, 'connect')
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  return client
}

async function serve(answer: Buffer): Promise<void> {
  server = createServer((_, response) => response.end(answer))
  cutWhoNeverRead(server, TIMES)
  await once(server.listen(0, '127.0.0.1'), 'listening')
}

const connections = (): Promise<number> =>
  new Promise((resolve) => server.getConnections((_, count) => resolve(count)))

afterEach(() => {
  for (const client of clients.splice(0)) client.destroy()
  server.closeAllConnections()
  server.close()
})

test('who asks and never reads is cut off', async () => {
  await serve(LARGE)
  await ask()
  await expect.poll(connections).toBe(1)
  await expect.poll(connections).toBe(0)
})

test('who reads slowly gets all of it', async () => {
  await serve(LARGE)
  const client = await ask()
  let read = 0
  client.on('data', (chunk) => {
    read += chunk.length
    client.pause()
    setTimeout(() => client.resume(), 2)
  })
  await expect.poll(() => read, { timeout: 60_000 }).toBeGreaterThan(LARGE.length)
})

test('who has read is left alone, for as long as connections are kept', async () => {
  await serve(Buffer.from('short'))
  const client = await ask()
  client.resume()
  await wait(TIMES.silentMs * 3)
  expect(await connections()).toBe(1)
})

test('who never closes after we have is cut off', async () => {
  await serve(Buffer.from('short'))
  server.on('clientError', (_, socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  const { port } = server.address() as AddressInfo
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  clients.push(client)
  client.on('error', () => undefined).resume()
  client.write('this is no HTTP\r\n\r\n')
  await once(client, 'end')
  expect(await connections()).toBe(1)
  await expect.poll(connections).toBe(0)
})
