import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { type Form, parseForm } from '../body-parsers.ts'
import { takeConnectionListener } from '../pipelining.ts'
import { methodAndUrlIn, type ParsedRequest, parseRequest } from './parse-request.ts'
import { acceptsBody, FastRequest, type FastRouteDeps, FastRoutes } from './routes.ts'
import { type FastResponse, writeResponse } from './write-response.ts'

interface Deps extends FastRouteDeps {
  readonly isStopping: () => boolean
  readonly keepAliveMs: number
  /** Maximum time until the first byte on a new connection. */
  readonly firstByteMs: number
  /** Interval of connection checks. Connections with a partial request are handed to Node, which enforces its timeouts. */
  readonly checkEveryMs: number
}

/**
 * The fast path: serves simple requests of a few routes directly on the connection, because streams, events and objects of
 * Node's HTTP server cost more than half of such a request. The first request of any other kind hands the connection to
 * Node permanently, with all received bytes. Decision 0016 has its limits.
 */
export class FastPathServer {
  readonly #deps: Deps
  readonly routes = new FastRoutes()
  readonly #open = new Set<FastConnection>()
  requestCount = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  attachTo(server: Server): void {
    const handOver = takeConnectionListener(server)
    const host: ConnectionHost = {
      ...this.#deps,
      routes: this.routes,
      countRequest: () => this.requestCount++,
      release: (connection) => this.#open.delete(connection),
      handOver,
      refuse: (socket, code) => server.emit('clientError', Object.assign(new Error(code), { code }), socket),
    }
    server.on('connection', (socket) => this.#open.add(new FastConnection(socket, host)))
    const check = () => {
      for (const connection of this.#open) connection.check()
    }
    const checks = setInterval(check, this.#deps.checkEveryMs).unref()
    server.once('close', () => clearInterval(checks))
  }

  closeIdle(): void {
    for (const connection of this.#open) connection.closeIfIdle()
  }

  closeAll(): void {
    for (const { socket } of this.#open) socket.destroy()
  }
}

/** Malformed forms are left to Fastify, which closes their connection. */
function formIn(body: Buffer): Form | undefined {
  try {
    return parseForm(body)
  } catch {
    return undefined
  }
}

/** Codes of Node's own errors. */
const [BROKEN_OFF, TIMED_OUT] = ['HPE_INVALID_EOF_STATE', 'ERR_HTTP_REQUEST_TIMEOUT']

/** How long a new connection stays open during a shutdown. Node would wait until all connections are cut. */
const NEW_CONNECTION_MS = 3_000

/** Services of the server for a connection: count it, forget it, hand it to Node, or close it with an error response. */
interface ConnectionHost extends Deps {
  readonly routes: FastRoutes
  readonly countRequest: () => void
  readonly release: (connection: FastConnection) => void
  readonly handOver: (socket: Socket) => void
  readonly refuse: (socket: Socket, code: string) => void
}

class FastConnection {
  readonly socket: Socket
  readonly #host: ConnectionHost
  /** Read once, because a closed socket has no address. */
  readonly #peer: { readonly remoteAddress: string | undefined }
  #lastActivity = performance.now()
  #hasServed = false
  /** A request whose body has not arrived completely. */
  #partial: Buffer | undefined
  #request: ParsedRequest | undefined
  #hasEnded = false
  /** True after the last response was sent. */
  #isDone = false

  constructor(socket: Socket, host: ConnectionHost) {
    this.socket = socket
    this.#host = host
    this.#peer = { remoteAddress: socket.remoteAddress }
    socket.on('data', this.#read).on('end', this.#end).on('close', this.#close).on('error', this.#cut)
  }

  readonly #close = (): void => this.#host.release(this)
  readonly #cut = (): void => void this.socket.destroy()

  /** The client sends nothing more; the request in flight is still answered. */
  readonly #end = (): void => {
    this.#hasEnded = true
    if (this.#partial) this.#host.refuse(this.socket, BROKEN_OFF)
    else if (!this.#request) this.socket.end()
    this.#partial = undefined
  }

  readonly #read = (chunk: Buffer): void => {
    if (this.#isDone) return
    // Some clients send an empty line after a body. Between two requests it has no meaning.
    if (this.#hasServed && !this.#partial && chunk.length === 2 && chunk.toString() === '\r\n') return
    // A pipelined request waits unread. After the response the connection is handed to Node.
    if (this.#request) return void this.socket.pause().unshift(chunk)
    this.#lastActivity = performance.now()
    const received = this.#partial ? Buffer.concat([this.#partial, chunk]) : chunk
    // Node waits for clients that do not read their responses.
    if (this.socket.writableLength > 0 || !this.#serve(received)) this.#handOver(received)
  }

  /** Returns false if the request is left to Node. */
  #serve(bytes: Buffer): boolean {
    const text = bytes.toString('latin1')
    const methodAndUrl = methodAndUrlIn(text)
    const line = methodAndUrl === undefined ? undefined : this.#host.routes.find(methodAndUrl)
    const request = line && parseRequest({ bytes, text, socket: this.#peer }, line)
    if (!request || !acceptsBody(line.route, request.headers)) return false
    const [{ route }, { bodyAt, end }] = [line, request]
    if (bytes.length < end && !this.#partial) {
      this.#partial = bytes
      return true
    }
    if (bytes.length !== end) return false
    const body = route.acceptsForm ? formIn(bytes.subarray(bodyAt)) : undefined
    if (route.acceptsForm && !body) return false
    this.#partial = undefined
    this.#request = request
    this.#hasServed = true
    this.#host.countRequest()
    const [send, cut] = [this.#send, this.#cut]
    const arrival = { route, raw: request, body, startedAt: this.#lastActivity, send, cut }
    new FastRequest(arrival, this.#host).handle()
    return true
  }

  readonly #send = (response: FastResponse): void => {
    const { isStopping, keepAliveMs } = this.#host
    const isLast = isStopping() || this.#hasEnded || !this.#request!.keepsAlive
    const [text, encoding] = writeResponse(response, isLast ? undefined : keepAliveMs / 1000)
    const { socket } = this
    this.#request = undefined
    this.#lastActivity = performance.now()
    this.#isDone = isLast
    socket.write(text, encoding)
    if (isLast) socket.destroySoon()
    else if (socket.isPaused()) this.#handOver()
  }

  #handOver(unread?: Buffer): void {
    const { socket } = this
    this.#host.release(this)
    // Node would wait forever for the close of a socket that is closed.
    if (socket.destroyed) return
    socket.off('data', this.#read).off('end', this.#end).off('close', this.#close).off('error', this.#cut)
    if (unread) socket.unshift(unread)
    this.#host.handOver(socket)
    socket.resume()
  }

  /** Called periodically for all connections, which is cheaper than a timer per request. */
  check(): void {
    if (this.#request) return
    const { firstByteMs, keepAliveMs, checkEveryMs } = this.#host
    const idleMs = performance.now() - this.#lastActivity
    if (this.#partial && idleMs > checkEveryMs) this.#handOver(this.#partial)
    else if (!this.#hasServed && !this.#isDone && idleMs > firstByteMs) {
      this.#isDone = true
      this.#host.refuse(this.socket, TIMED_OUT)
    } else if (idleMs > keepAliveMs) this.socket.destroy()
  }

  /** Called during a shutdown. A new connection may be about to send a request. */
  closeIfIdle(): void {
    const isIdle = !this.#request && !this.#partial && !this.#isDone && this.socket.writableLength === 0
    const isNew = !this.#hasServed && performance.now() - this.#lastActivity < NEW_CONNECTION_MS
    if (isIdle && !isNew) this.socket.destroy()
  }
}
