import type { Server } from 'node:http'
import type { Socket } from 'node:net'

interface Times {
  readonly lookEveryMs: number
  readonly silentMs: number
}

/**
 * Cuts off clients that ask and never read their answers, or never close where we have. A timer on each connection would
 * have to be wound up at every request; so such connections are looked for now and then, and only these get one. It runs
 * while nothing moves at all, so whoever reads slowly is served.
 */
export function cutWhoNeverRead(server: Server, { lookEveryMs, silentMs }: Times): void {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const looking = setInterval(() => {
    for (const socket of sockets) {
      const waitsForClient = socket.writableLength > 0 || socket.writableEnded
      if (waitsForClient && socket.timeout !== silentMs) socket.setTimeout(silentMs)
    }
  }, lookEveryMs).unref()
  server.once('close', () => clearInterval(looking))
}
