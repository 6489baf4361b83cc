import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Reaction of the proxy to a request: forwards it, closes the connection, never answers, or answers itself. */
export type Behaviour =
  | 'forward'
  | 'refuse'
  | 'hang'
  | ((incoming: IncomingMessage, response: ServerResponse) => void)

/** Stands between the SDK and Jeton, over real sockets: counts requests, and fails as the test wants. */
export interface TestProxy {
  readonly url: string
  behaviour: Behaviour
  readonly requests: {
    readonly method: string
    readonly url: string
    readonly headers: NodeJS.Dict<string | string[]>
  }[]
  /** Requests that are not answered yet, at most. */
  readonly concurrent: { now: number; most: number }
  /** Requests to this path. */
  count(path: string): number
  close(): Promise<void>
}

function forward(target: string, incoming: IncomingMessage, response: ServerResponse): void {
  const { method, headers, url } = incoming
  const outgoing = request(new URL(url ?? '/', target), { method: method ?? 'GET', headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers)
    answer.pipe(response)
  })
  outgoing.on('error', () => response.destroy())
  incoming.pipe(outgoing)
}

export async function startProxy(target: string): Promise<TestProxy> {
  const server = createServer((incoming, response) => {
    const { method = '', url = '', headers } = incoming
    proxy.requests.push({ method, url, headers })
    proxy.concurrent.now++
    proxy.concurrent.most = Math.max(proxy.concurrent.most, proxy.concurrent.now)
    response.on('close', () => proxy.concurrent.now--)
    const { behaviour } = proxy
    if (behaviour === 'forward') forward(target, incoming, response)
    else if (behaviour === 'refuse') incoming.socket.destroy()
    else if (behaviour !== 'hang') behaviour(incoming, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy: TestProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    behaviour: 'forward',
    requests: [],
    concurrent: { now: 0, most: 0 },
    count: (path) => proxy.requests.filter(({ url }) => url.split('?')[0] === path).length,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return proxy
}
