import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import type { Socket } from 'node:net'
import { socketOwner } from './socket-owner.ts'

export interface ClientResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

interface ClientRequest {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Sends every request on one connection, so that the same process answers all of them. */
export class KeepAliveClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #url: string
  #socket: Socket | undefined

  constructor(url: string) {
    this.#url = url
  }

  /** Rejects if the connection closes before the response is complete. */
  request({ method = 'GET', path, headers = {}, body = '' }: ClientRequest): Promise<ClientResponse> {
    return new Promise((resolve, reject) => {
      const length = Buffer.byteLength(body)
      const options = { method, agent: this.#agent, headers: { ...headers, 'content-length': length } }
      const sent = request(this.#url + path, options, (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (chunk) => (text += chunk))
        answer.on('error', reject)
        answer.on('end', () => resolve({ status: answer.statusCode!, headers: answer.headers, text }))
      })
      sent.on('socket', (socket) => (this.#socket = socket))
      sent.on('error', reject)
      sent.end(body)
    })
  }

  /** Process id of the process at the other end. */
  async processId(): Promise<number> {
    await this.request({ path: '/health/live' })
    return socketOwner(Number(new URL(this.#url).port), this.#socket!.localPort!)
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** Opens connections until every process has at least `each` of them. Returns them by process id. */
export async function connectToEveryProcess(
  url: string,
  { processes, each }: { processes: number; each: number },
): Promise<Map<number, KeepAliveClient[]>> {
  const clients = new Map<number, KeepAliveClient[]>()
  const isEnough = () =>
    clients.size === processes && [...clients.values()].every((own) => own.length >= each)
  for (let opened = 0; opened < 500 && !isEnough(); opened++) {
    const client = new KeepAliveClient(url)
    const pid = await client.processId()
    clients.set(pid, [...(clients.get(pid) ?? []), client])
  }
  if (!isEnough())
    throw new Error(
      `Not every process gets connections: ${[...clients].map(([pid, own]) => [pid, own.length])}`,
    )
  return clients
}
