import { connect, createServer, type Socket } from 'node:net'

/**
 * State of the network. `silent` drops every byte without an error, like a pulled cable. `refusing` resets new
 * connections. A delay applies to every chunk and keeps the order.
 */
export type Network = 'normal' | 'silent' | 'refusing' | { readonly delayMs: number }

/** Forwards bytes between its clients and a port of this machine, with the faults that the test sets. */
export interface TcpProxy {
  readonly port: number
  setNetwork(state: Network): void
  /** Resets every connection that is open. */
  cut(): void
  /** Closes every connection after its next `bytes` bytes to the client: in the middle of an answer. */
  cutWithin(bytes: number): void
  close(): Promise<void>
}

export async function startTcpProxy(to: { readonly port: number }): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let network: Network = 'normal'
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
      if (network === 'silent') return
      const ms = typeof network === 'object' ? network.delayMs : 0
      // A chunk stays behind delayed ones, also after the delay was removed: TCP never changes the order.
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
    if (network === 'refusing') return void client.resetAndDestroy()
    const upstream = connect({ host: '127.0.0.1', port: to.port })
    const pair = [client, upstream] as const
    pairs.add(pair)
    carry(client, upstream, pair)
    carry(upstream, client, pair)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    setNetwork(state) {
      // Dropped bytes are lost for good, so these connections cannot be used any more.
      if (network === 'silent') for (const pair of [...pairs]) end(pair)
      network = state
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
