import { connect, createServer, type Socket } from 'node:net'

/** How the network behaves. */
export type Weather =
  | { readonly kind: 'fair' }
  /** Every piece arrives this much later, in order. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** Nothing arrives any more, and nobody is told: a cable that was pulled. */
  | { readonly kind: 'silent' }
  /** Connections are refused as soon as they come. */
  | { readonly kind: 'refusing' }

/** Carries bytes between its clients and a port of this machine, as badly as the test likes. */
export interface TcpProxy {
  readonly port: number
  weather(now: Weather): void
  /** Resets every connection that is open. */
  cut(): void
  /** Closes every connection after its next `bytes` bytes to the client: in the middle of an answer. */
  cutWithin(bytes: number): void
  close(): Promise<void>
}

export async function startTcpProxy(to: { readonly port: number }): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let weather: Weather = { kind: 'fair' }
  let bytesLeft = Number.POSITIVE_INFINITY

  function end(pair: readonly [Socket, Socket]): void {
    pairs.delete(pair)
    for (const socket of pair) socket.resetAndDestroy()
  }

  function carry(from: Socket, target: Socket, pair: readonly [Socket, Socket]): void {
    let behind: Promise<unknown> = Promise.resolve()
    let waiting = 0

    function hand(chunk: Buffer): void {
      if (!target.writable) return
      if (target === pair[0] && bytesLeft < chunk.length) {
        target.write(chunk.subarray(0, bytesLeft))
        bytesLeft = Number.POSITIVE_INFINITY
        end(pair)
        return
      }
      if (target === pair[0]) bytesLeft -= chunk.length
      target.write(chunk)
    }

    from.on('data', (chunk: Buffer) => {
      if (weather.kind === 'silent') return
      const ms = weather.kind === 'slow' ? weather.ms : 0
      // Also in fair weather, what comes after something slow stays behind it: TCP never changes the order.
      if (ms === 0 && waiting === 0) return hand(chunk)
      waiting++
      behind = behind
        .then(() => new Promise((resolve) => setTimeout(resolve, ms)))
        .then(() => {
          waiting--
          hand(chunk)
        })
    })
    from.on('error', () => end(pair))
    from.on('close', () => end(pair))
  }

  const server = createServer((client) => {
    if (weather.kind === 'refusing') return void client.resetAndDestroy()
    const upstream = connect({ host: '127.0.0.1', port: to.port })
    const pair = [client, upstream] as const
    pairs.add(pair)
    carry(client, upstream, pair)
    carry(upstream, client, pair)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    weather(now) {
      // What was swallowed in silence is lost for good: such connections are of no use to anybody.
      if (weather.kind === 'silent') for (const pair of [...pairs]) end(pair)
      weather = now
    },
    cut() {
      for (const pair of [...pairs]) end(pair)
    },
    cutWithin(bytes) {
      bytesLeft = bytes
    },
    async close() {
      for (const pair of [...pairs]) end(pair)
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
