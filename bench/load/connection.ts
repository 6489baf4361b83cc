import { connect, type Socket } from 'node:net'

export interface Answer {
  readonly status: number
  readonly head: string
  readonly body: string
  /** Size of head and body. */
  readonly bytes: number
}

/** Parses the first response in the buffer. Undefined until it is complete. Every subject sends a `Content-Length`. */
export function parseResponse(
  received: Buffer,
): { status: number; bodyFrom: number; bytes: number } | undefined {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const head = received.toString('latin1', 0, headEnd)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length === undefined) throw new Error(`response without Content-Length: ${head}`)
  const bodyFrom = headEnd + 4
  const bytes = bodyFrom + Number(length)
  return received.length < bytes ? undefined : { status: Number(head.slice(9, 12)), bodyFrom, bytes }
}

export function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    socket.once('error', reject)
    socket.once('connect', () => resolve(socket.off('error', reject)))
  })
}

function sendOn(socket: Socket, request: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0)
    const fail = () => reject(new Error('the connection was closed'))
    const take = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      const parsed = parseResponse(received)
      if (!parsed) return
      socket.off('data', take).off('close', fail)
      const { status, bodyFrom, bytes } = parsed
      const head = received.toString('latin1', 0, bodyFrom - 4)
      resolve({ status, head, body: received.toString('utf8', bodyFrom, bytes), bytes })
    }
    socket.on('data', take).once('close', fail)
    socket.write(request, 'latin1')
  })
}

/** Sends every request once over a few connections and returns the responses in the order of the requests. */
export async function sendAll(url: string, requests: readonly string[], connections = 32): Promise<Answer[]> {
  const answers = new Array<Answer>(requests.length)
  let next = 0
  async function sendNext(): Promise<void> {
    const socket = (await openSocket(url)).on('error', () => undefined)
    try {
      while (next < requests.length) {
        const index = next++
        answers[index] = await sendOn(socket, requests[index]!)
      }
    } finally {
      socket.destroy()
    }
  }
  await Promise.all(Array.from({ length: Math.min(connections, requests.length) }, sendNext))
  return answers
}

export const sendOne = async (url: string, request: string): Promise<Answer> =>
  (await sendAll(url, [request]))[0]!
