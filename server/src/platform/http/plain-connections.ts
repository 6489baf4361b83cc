import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { plainAnswer } from './plain-answer.ts'
import { methodAndUrlIn, type PlainRequest, readPlainRequest } from './plain-request.ts'
import type { Answer, QuickLanes } from './quick-answers.ts'

interface Deps {
  readonly lanes: QuickLanes
  /** While stopping every answer is the last on its connection. */
  readonly isStopping: () => boolean
  readonly keepAliveMs: number
  /** How long a new connection may take to send the first byte of a request. */
  readonly silentMs: number
  /** Connections are looked at this often; one with part of a request is then handed to Node, which has the deadlines. */
  readonly lookEveryMs: number
}

/**
 * More than half of what it costs to answer a request is Node's: streams, events and objects for whatever it may be. The
 * hot paths are asked by requests of the plainest kind, so these are read and answered here, straight on the connection.
 * With the first that is anything else the connection is handed to Node, with every byte that has come, and stays there.
 */
export class PlainConnections {
  readonly #deps: Deps
  readonly #open = new Set<PlainConnection>()
  /** How many requests have come here so far. */
  seen = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  standBefore(server: Server): void {
    const [node] = server.listeners('connection') as [(socket: Socket) => void]
    server.off('connection', node)
    const door: Door = {
      ...this.#deps,
      count: () => this.seen++,
      forget: (connection) => this.#open.delete(connection),
      handOver: (socket) => node.call(server, socket),
      refuse: (socket, reason) => server.emit('clientError', reason, socket),
    }
    server.on('connection', (socket) => this.#open.add(new PlainConnection(socket, door)))
    const looking = setInterval(() => this.#look(), this.#deps.lookEveryMs).unref()
    server.once('close', () => clearInterval(looking))
  }

  #look(): void {
    const now = performance.now()
    for (const connection of this.#open) connection.look(now)
  }

  closeIdle(): void {
    for (const connection of this.#open) connection.closeIfIdle()
  }

  closeAll(): void {
    for (const { socket } of this.#open) socket.destroy()
  }
}

/** With the codes that Node has for it. */
const brokenOff = () => Object.assign(new Error('The request broke off.'), { code: 'HPE_INVALID_EOF_STATE' })
const timedOut = () => Object.assign(new Error('No request came.'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

/** While stopping: how long one that has just come may take to ask. Node would wait for it until all are cut. */
const FIRST_WITHIN_MS = 3_000

interface Door extends Deps {
  readonly count: () => void
  readonly forget: (connection: PlainConnection) => void
  readonly handOver: (socket: Socket) => void
  /** Answers that no request was read, and closes. */
  readonly refuse: (socket: Socket, reason: Error) => void
}

class PlainConnection {
  readonly socket: Socket
  readonly #door: Door
  /** Asked once: of a connection that is gone nobody could tell. */
  readonly #peer: { readonly remoteAddress: string | undefined }
  #movedAt = performance.now()
  #hasAsked = false
  /** A request of which the body has not all come. */
  #part: Buffer | undefined
  /** The request that is being worked on. */
  #request: PlainRequest | undefined
  #hasEnded = false
  /** The last answer is sent. */
  #isOver = false

  constructor(socket: Socket, door: Door) {
    this.socket = socket
    this.#door = door
    this.#peer = { remoteAddress: socket.remoteAddress }
    socket.on('data', this.#read).on('end', this.#end).on('close', this.#close)
    socket.on('error', this.cut).on('timeout', this.cut)
  }

  readonly #close = (): void => this.#door.forget(this)

  /** The other side has said all that it will. What it has asked is still answered. */
  readonly #end = (): void => {
    this.#hasEnded = true
    if (this.#part) this.#door.refuse(this.socket, brokenOff())
    else if (!this.#request) this.socket.end()
    this.#part = undefined
  }

  readonly #read = (chunk: Buffer): void => {
    if (this.#isOver) return
    // Some send an empty line after a body. Between two requests it means nothing.
    if (this.#hasAsked && !this.#part && chunk.length === 2 && chunk.toString() === '\r\n') return
    // Who asks again before the answer has to wait, unread; after it, all of that is Node's.
    if (this.#request) return void this.socket.pause().unshift(chunk)
    this.#movedAt = performance.now()
    const came = this.#part ? Buffer.concat([this.#part, chunk]) : chunk
    // Who does not read its answers is Node's to wait for.
    if (this.socket.writableLength > 0 || !this.#take(came)) this.#handOver(came)
  }

  /** False where it is not for us. */
  #take(came: Buffer): boolean {
    const { lanes } = this.#door
    const text = came.toString('latin1')
    const methodAndUrl = methodAndUrlIn(text)
    const way = methodAndUrl === undefined ? undefined : lanes.wayOf(methodAndUrl)
    const request = way && readPlainRequest({ came, text, socket: this.#peer }, way)
    if (!request || !lanes.takes(way.lane, request.headers)) return false
    const { lane } = way
    const { bodyAt, end } = request
    if (end > bodyAt && !lane.takesForm) return false
    if (came.length < end && !this.#part) {
      this.#part = came
      return true
    }
    if (came.length !== end) return false
    const body = lane.takesForm ? came.subarray(bodyAt) : undefined
    this.#part = undefined
    this.#request = request
    this.#hasAsked = true
    this.#door.count()
    const { send, cut } = this
    lanes.answer({ lane, raw: request, body, began: this.#movedAt, send, cut })
    return true
  }

  readonly send = (answer: Answer): void => {
    const { isStopping, keepAliveMs } = this.#door
    const isLast = isStopping() || this.#hasEnded || !this.#request!.keepsAlive
    const [text, encoding] = plainAnswer(answer, isLast ? undefined : keepAliveMs / 1000)
    const { socket } = this
    this.#request = undefined
    this.#movedAt = performance.now()
    this.#isOver = isLast
    socket.write(text, encoding)
    if (isLast) socket.destroySoon()
    else if (socket.isPaused()) this.#handOver()
  }

  readonly cut = (): void => void this.socket.destroy()

  #handOver(unread?: Buffer): void {
    const { socket } = this
    this.#door.forget(this)
    // Node would wait in vain for the end of one that has ended.
    if (socket.destroyed) return
    socket.off('data', this.#read).off('end', this.#end).off('close', this.#close)
    socket.off('error', this.cut).off('timeout', this.cut)
    if (unread) socket.unshift(unread)
    this.#door.handOver(socket)
    socket.resume()
  }

  /** A deadline for each request would have to be wound up each time: so all are looked at now and then. */
  look(now: number): void {
    if (this.#request) return
    // Set while it did not read; it has caught up.
    if (this.socket.timeout && this.#isIdle) this.socket.setTimeout(0)
    const { silentMs, keepAliveMs, lookEveryMs } = this.#door
    const silentFor = now - this.#movedAt
    if (this.#part && silentFor > lookEveryMs) this.#handOver(this.#part)
    else if (!this.#hasAsked && !this.#isOver && silentFor > silentMs) this.#refuseSilent()
    else if (silentFor > keepAliveMs) this.socket.destroy()
  }

  #refuseSilent(): void {
    this.#isOver = true
    this.#door.refuse(this.socket, timedOut())
  }

  get #isIdle(): boolean {
    return !this.#request && !this.#part && !this.#isOver && this.socket.writableLength === 0
  }

  /** Who has only just come is about to ask. */
  closeIfIdle(): void {
    const isNew = !this.#hasAsked && performance.now() - this.#movedAt < FIRST_WITHIN_MS
    if (this.#isIdle && !isNew) this.socket.destroy()
  }
}
