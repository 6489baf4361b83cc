import { createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { Certificate } from './certificates.ts'

/** Something that takes connections and does with them what it likes. */
export interface RawReceiver {
  readonly port: number
  /** How many connections there were. */
  readonly connections: () => number
  /** How many of them are closed again. */
  readonly closed: () => number
  /** At which of its addresses it was reached, each time. */
  readonly reachedAt: string[]
  /** Everything that was sent to it. */
  readonly received: () => string
  close(): Promise<void>
}

interface Behaviour {
  readonly host?: string
  /** With it, TLS. */
  readonly certificate?: Certificate
  onConnection?(socket: Socket): void
  /** Once a whole request (by its blank line and content-length) has come. */
  onRequest?(socket: Socket, request: string): void
}

const isWhole = (text: string): boolean => {
  const end = text.indexOf('\r\n\r\n')
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
  return end >= 0 && Buffer.byteLength(text.slice(end + 4)) >= length
}

export async function startRawReceiver(behaviour: Behaviour): Promise<RawReceiver> {
  const sockets = new Set<Socket>()
  const reachedAt: string[] = []
  let everything = ''
  let connections = 0
  let closed = 0

  function serve(socket: Socket): void {
    let text = ''
    behaviour.onConnection?.(socket)
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      everything += chunk.toString('latin1')
      if (!isWhole(text)) return
      const request = text
      text = ''
      behaviour.onRequest?.(socket, request)
    })
    socket.on('error', () => undefined)
  }

  const { certificate } = behaviour
  const server = certificate ? createTlsServer(certificate, serve) : createServer(serve)
  server.on('connection', (socket: Socket) => {
    connections++
    reachedAt.push(socket.localAddress!)
    sockets.add(socket)
    socket.on('close', () => {
      closed++
      sockets.delete(socket)
    })
    socket.on('error', () => undefined)
  })
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, behaviour.host ?? '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    connections: () => connections,
    closed: () => closed,
    reachedAt,
    received: () => everything,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** An answer that ends where it should. */
export const answerOf = (status: string, body = '', headers = ''): string =>
  `HTTP/1.1 ${status}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`
