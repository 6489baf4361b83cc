import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Enough for clients that pipeline; without a limit, one that never reads its answers fills the memory. */
export const MAX_REQUESTS_IN_FLIGHT = 16

type Listener = (socket: Socket) => void

/**
 * Stops reading from a connection while it has `MAX_REQUESTS_IN_FLIGHT` requests whose answers it has not taken. Node has
 * a limit by bytes, but it parses all that one read brings: 64 KB are 1,700 short requests.
 */
export function limitPipelining(server: Server): void {
  const connections = new WeakMap<Socket, PipelinedConnection>()
  const [connect] = server.listeners('connection') as [Listener]
  server.off('connection', connect)
  server.on('connection', (socket) => {
    connect.call(server, socket)
    connections.set(socket, new PipelinedConnection(socket))
  })
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) =>
    connections.get(request.socket)?.begin(response),
  )
  server.prependListener('clientError', (_, socket) => connections.get(socket as Socket)?.stop())
}

type Parse = (chunk: Buffer) => void

class PipelinedConnection {
  readonly #socket: Socket
  /** Node's own reader of the connection, which parses all that it is given. */
  readonly #parse: Parse
  #inFlight = 0
  #isPaused = false
  #isBroken = false

  constructor(socket: Socket) {
    this.#socket = socket
    const [parse] = socket.listeners('data') as [Parse]
    this.#parse = parse
    // Node's parser takes bytes from below the stream until a second listener comes: so add before removing.
    socket.on('data', this.#read).off('data', parse)
  }

  begin(response: ServerResponse): void {
    this.#inFlight++
    response.once('close', this.#end)
  }

  /** What follows a request that cannot be parsed is not read: its parser would only fail again. */
  stop(): void {
    this.#isBroken = true
  }

  readonly #end = (): void => {
    this.#inFlight--
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket.resume()
  }

  readonly #read = (chunk: Buffer): void => {
    const socket = this.#socket
    for (let at = 0; at < chunk.length && !this.#isBroken; ) {
      const isFull = this.#inFlight >= MAX_REQUESTS_IN_FLIGHT
      // Node pauses it, too, while answers wait to be sent; then Node also resumes it.
      if (isFull && !socket.isPaused()) {
        this.#isPaused = true
        socket.pause()
      }
      if (socket.isPaused()) return void socket.unshift(chunk.subarray(at))
      const end = endOfHeads(chunk, at, MAX_REQUESTS_IN_FLIGHT - this.#inFlight)
      this.#parse(at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end))
      at = end
    }
  }
}

const [LINE_FEED, CARRIAGE_RETURN] = [10, 13]

/**
 * Where, from `at` on, so many empty lines have ended, or the chunk has. A head ends with an empty line, so no more requests
 * begin before it. An empty line that began in an earlier chunk counts; one in a body counts, too, which costs one more call of the parser.
 */
function endOfHeads(chunk: Buffer, at: number, most: number): number {
  let found = 0
  for (let lineAt = at; lineAt < chunk.length; ) {
    const isReturn = chunk[lineAt] === CARRIAGE_RETURN
    const end = isReturn ? lineAt + 1 : lineAt
    if (chunk[end] === LINE_FEED && ++found === most) return end + 1
    const next = chunk.indexOf(LINE_FEED, lineAt)
    if (next < 0) break
    lineAt = next + 1
  }
  return chunk.length
}
