import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import type { Socket } from 'node:net'
import { socketOwner } from './socket-owner.ts'

export interface LineAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

interface LineRequest {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** One connection that is kept, so that one and the same worker answers everything that is asked on it. */
export class Line {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #url: string
  #socket: Socket | undefined

  constructor(url: string) {
    this.#url = url
  }

  /** Rejects where the connection is cut before the whole answer is there. */
  ask({ method = 'GET', path, headers = {}, body = '' }: LineRequest): Promise<LineAnswer> {
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

  /** The process at the other end. */
  async worker(): Promise<number> {
    await this.ask({ path: '/health/live' })
    return socketOwner(Number(new URL(this.#url).port), this.#socket!.localPort!)
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** Opens lines until every worker has at least so many; by worker. */
export async function linesToAll(
  url: string,
  { workers, each }: { workers: number; each: number },
): Promise<Map<number, Line[]>> {
  const lines = new Map<number, Line[]>()
  const isEnough = () => lines.size === workers && [...lines.values()].every((own) => own.length >= each)
  for (let opened = 0; opened < 500 && !isEnough(); opened++) {
    const line = new Line(url)
    const worker = await line.worker()
    lines.set(worker, [...(lines.get(worker) ?? []), line])
  }
  if (!isEnough())
    throw new Error(`Not every worker gets connections: ${[...lines].map(([pid, own]) => [pid, own.length])}`)
  return lines
}
