import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** Exactly as it came. */
  readonly body: string
  /** Parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: what comes over the wire is what the test is about
  readonly payload: any
  readonly at: number
}

export interface Reply {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** Someone who receives events, over a real socket. */
export interface Receiver {
  readonly url: string
  readonly received: Received[]
  /** The response to later requests: 204 unless the test sets another. Null never responds. */
  answer: (request: Received) => Reply | null | Promise<Reply | null>
  /** Resolves as soon as it has received `count` in total. */
  receivedAtLeast(count: number): Promise<Received[]>
  close(): Promise<void>
}

export async function startReceiver(host = '127.0.0.1'): Promise<Receiver> {
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const { url: path = '', headers } = request
      void take({ path, headers, body, payload: JSON.parse(body), at: performance.now() }, response)
    })
  })

  async function take(one: Received, response: ServerResponse): Promise<void> {
    receiver.received.push(one)
    for (const look of waiting) look()
    const reply = await receiver.answer(one)
    if (reply === null) return
    response.writeHead(reply.status ?? 204, reply.headers).end(reply.body)
  }

  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const receiver: Receiver = {
    url: `http://${host}:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    answer: () => ({}),
    receivedAtLeast: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (receiver.received.length < count) return
          waiting.delete(look)
          resolve(receiver.received)
        }
        waiting.add(look)
        look()
      }),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return receiver
}
