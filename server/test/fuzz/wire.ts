import { connect, type Socket } from 'node:net'

export interface WireAnswer {
  readonly status: number
  readonly head: string
  readonly body: string
}

export interface Heard {
  readonly answers: readonly WireAnswer[]
  readonly closed: boolean
  /** Nothing was received before the timeout. */
  readonly hung: boolean
  readonly ms: number
}

const BODYLESS = new Set([204, 304])

/** Parses one response at the start of the bytes; undefined if it is incomplete. */
function parseAnswer(bytes: Buffer, isHead: boolean): { answer: WireAnswer; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = bytes.subarray(0, end).toString('latin1')
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? Number.NaN)
  const start = end + 4
  const whole = (body: Buffer, length: number) => ({
    answer: { status, head, body: body.toString('utf8') },
    length,
  })
  if (status === 100) return whole(Buffer.alloc(0), start)
  if (isHead || BODYLESS.has(status)) return whole(Buffer.alloc(0), start)
  const stated = /\r\ncontent-length: (\d+)/i.exec(head)
  if (stated) {
    const length = start + Number(stated[1])
    return bytes.length >= length ? whole(bytes.subarray(start, length), length) : undefined
  }
  if (/\r\ntransfer-encoding: chunked/i.test(head)) {
    const last = bytes.indexOf('\r\n0\r\n\r\n', start - 2)
    return last < 0 ? undefined : whole(bytes.subarray(start, last), last + 7)
  }
  return undefined
}

/** A connection that sends bytes as they are and parses every response. */
export class Wire {
  readonly #to: { host: string; port: number }
  #socket: Socket | undefined

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.#to = { host: hostname, port: Number(port) }
  }

  /**
   * Sends, and reads until so many responses have arrived, the server has closed, or the timeout. With `finish` our side is
   * closed after sending, as a client that breaks off.
   */
  say(
    bytes: Buffer,
    {
      answers,
      heads,
      finish,
      timeoutMs,
    }: { answers: number; heads: boolean; finish: boolean; timeoutMs: number },
  ): Promise<Heard> {
    const began = performance.now()
    const socket = this.#open()
    return new Promise((resolve) => {
      let rest = Buffer.alloc(0)
      const heard: WireAnswer[] = []
      const end = (closed: boolean, hung = false) => {
        clearTimeout(timer)
        socket.removeAllListeners()
        socket.on('error', () => undefined)
        if (closed || hung || finish || rest.length > 0) this.drop()
        resolve({ answers: heard, closed, hung, ms: performance.now() - began })
      }
      const timer = setTimeout(() => end(false, true), timeoutMs)
      socket.on('data', (chunk) => {
        rest = Buffer.concat([rest, chunk])
        for (let one = parseAnswer(rest, heads); one; one = parseAnswer(rest, heads)) {
          if (one.answer.status !== 100) heard.push(one.answer)
          rest = rest.subarray(one.length)
        }
        if (heard.length >= answers && !finish) end(false)
      })
      socket.on('close', () => end(true))
      // A server that responds early may close before the whole body is sent; its response counts.
      socket.on('error', () => undefined)
      if (finish) socket.end(bytes)
      else socket.write(bytes)
    })
  }

  /** Sends and closes without reading. */
  async sayAndVanish(bytes: Buffer): Promise<void> {
    const socket = this.#open()
    await new Promise((resolve) => socket.write(bytes, resolve))
    socket.resetAndDestroy()
    this.#socket = undefined
  }

  drop(): void {
    this.#socket?.destroy()
    this.#socket = undefined
  }

  #open(): Socket {
    if (this.#socket && !this.#socket.destroyed && this.#socket.writable) return this.#socket
    this.#socket = connect(this.#to)
    this.#socket.on('error', () => undefined)
    this.#socket.setNoDelay(true)
    return this.#socket
  }
}
