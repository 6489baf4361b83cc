import { connect, type Socket } from 'node:net'

export interface Answer {
  readonly status: number
  readonly head: string
  readonly body: string
  /** Head and body. */
  readonly bytes: number
}

/** The first answer in what has been received, if all of it is there. Every subject names the length of its answers. */
export function wholeAnswer(
  received: Buffer,
): { status: number; bodyFrom: number; bytes: number } | undefined {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const head = received.toString('latin1', 0, headEnd)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length === undefined) throw new Error(`An answer without a length: ${head}`)
  const bodyFrom = headEnd + 4
  const bytes = bodyFrom + Number(length)
  return received.length < bytes ? undefined : { status: Number(head.slice(9, 12)), bodyFrom, bytes }
}

/** One request at a time over one kept connection. */
export class Connection {
  readonly #socket: Socket
  #received: Buffer = Buffer.alloc(0)
  #waiting: PromiseWithResolvers<Answer> | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk) => this.#take(chunk as Buffer))
    socket.on('error', (error) => this.#waiting?.reject(error))
    socket.on('close', () => this.#waiting?.reject(new Error('The connection was closed.')))
  }

  static open(url: string): Promise<Connection> {
    const { hostname, port } = new URL(url)
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      socket.once('error', reject)
      socket.once('connect', () => resolve(new Connection(socket.off('error', reject))))
    })
  }

  send(request: string): Promise<Answer> {
    this.#waiting = Promise.withResolvers()
    this.#socket.write(request, 'latin1')
    return this.#waiting.promise
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    const answer = wholeAnswer(this.#received)
    if (!answer) return
    const { status, bodyFrom, bytes } = answer
    const head = this.#received.toString('latin1', 0, bodyFrom - 4)
    const body = this.#received.toString('utf8', bodyFrom, bytes)
    this.#received = this.#received.subarray(bytes)
    this.#waiting?.resolve({ status, head, body, bytes })
  }
}

/** Sends every request once, over a few connections; `heard` gets each answer with the place of its request. */
export async function sendAll(
  url: string,
  requests: readonly string[],
  heard: (answer: Answer, place: number) => void,
  connections = 32,
): Promise<void> {
  let next = 0
  async function work(): Promise<void> {
    const connection = await Connection.open(url)
    try {
      while (next < requests.length) {
        const place = next++
        heard(await connection.send(requests[place]!), place)
      }
    } finally {
      connection.close()
    }
  }
  await Promise.all(Array.from({ length: Math.min(connections, requests.length) }, work))
}

export async function sendOne(url: string, request: string): Promise<Answer> {
  const answers: Answer[] = []
  await sendAll(url, [request], (answer) => answers.push(answer))
  return answers[0]!
}
