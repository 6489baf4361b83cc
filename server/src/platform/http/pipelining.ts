import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Enough for clients that pipeline. Without a limit, a client that never reads its responses could exhaust memory. */
export const MAX_REQUESTS_IN_FLIGHT = 16

/** Removes and returns Node's connection listener. Throws if a new version of Node or Fastify added another one. */
export function takeConnectionListener(server: Server): (socket: Socket) => void {
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[]
  if (listeners.length !== 1)
    throw new Error(`Expected one connection listener on the HTTP server, found ${listeners.length}.`)
  server.off('connection', listeners[0]!)
  return listeners[0]!.bind(server)
}

const connections = new WeakMap<Socket, PipelinedConnection>()

/** State of a connection that Node handles. */
export const pipelineOf = (socket: Socket): PipelinedConnection | undefined => connections.get(socket)

/** Limits the requests in flight on every connection. The listener for requests must call `begin`. */
export function limitPipelining(server: Server): void {
  const connect = takeConnectionListener(server)
  server.on('connection', (socket) => {
    connect(socket)
    connections.set(socket, new PipelinedConnection(socket))
  })
}

type Parse = (chunk: Buffer) => void

/**
 * Stops reading from a connection while `MAX_REQUESTS_IN_FLIGHT` of its requests are unanswered or their responses unread.
 * Node has a limit by bytes, but it parses everything that one read returns: 64 KB are 1,700 short requests.
 */
class PipelinedConnection {
  readonly #socket: Socket
  /** Node's own `data` listener, which parses the whole chunk. */
  readonly #parse: Parse
  #inFlight = 0
  #isPaused = false
  #hasFailed = false
  #last: { readonly request: IncomingMessage; readonly response: ServerResponse } | undefined

  constructor(socket: Socket) {
    this.#socket = socket
    const [parse] = socket.listeners('data') as [Parse]
    this.#parse = parse
    // Node's parser reads below the stream until a second listener is added: so add before removing.
    socket.on('data', this.#read).off('data', parse)
  }

  begin(request: IncomingMessage, response: ServerResponse): void {
    this.#inFlight++
    this.#last = { request, response }
    response.once('close', this.#end)
  }

  /** Requests that must be answered, without a malformed one of which only a part has arrived. */
  get #due(): number {
    const { request, response } = this.#last ?? {}
    return this.#inFlight - (request?.complete === false && !response!.headersSent ? 1 : 0)
  }

  /**
   * Stops reading after a malformed request, and returns whether to answer it. It is not answered if another response is
   * due, because the client would confuse the two, or if it was answered before its body arrived. Then the connection is
   * closed.
   */
  fail(): boolean {
    this.#hasFailed = true
    if (this.#due > 0) return false
    const isAnswered = this.#last?.request.complete === false && this.#last.response.headersSent
    if (isAnswered) this.#socket.destroySoon()
    return !isAnswered
  }

  readonly #end = (): void => {
    this.#inFlight--
    if (this.#hasFailed && this.#due === 0) this.#socket.destroySoon()
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket.resume()
  }

  readonly #read = (chunk: Buffer): void => {
    const socket = this.#socket
    for (let at = 0; at < chunk.length && !this.#hasFailed; ) {
      const isFull = this.#inFlight >= MAX_REQUESTS_IN_FLIGHT
      // Node pauses the socket too while responses wait to be sent. Then Node resumes it.
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
 * Returns the position after `max` empty lines, or the end of the chunk. A head ends with an empty line, so at most `max`
 * requests start before it. An empty line in a body, or one that started in an earlier chunk, counts too.
 */
function endOfHeads(chunk: Buffer, at: number, max: number): number {
  let found = 0
  for (let lineAt = at; lineAt < chunk.length; ) {
    const isReturn = chunk[lineAt] === CARRIAGE_RETURN
    const end = isReturn ? lineAt + 1 : lineAt
    if (chunk[end] === LINE_FEED && ++found === max) return end + 1
    const next = chunk.indexOf(LINE_FEED, lineAt)
    if (next < 0) break
    lineAt = next + 1
  }
  return chunk.length
}
