import type { Socket } from 'node:net'
import { Client } from 'undici'
import type { Clock } from '../clock.ts'
import type { Connect } from './connect.ts'

/** A connection to one origin that serves one send after the other, opened anew where the other side has closed it. */
export interface Line {
  readonly origin: string
  readonly client: Client
  /** The present connection, also while it is being opened. */
  socket: Socket | null
  /** How often it was opened. One more than at the beginning of a send tells that the send got a fresh connection. */
  opened: number
  openedAt: number
  idle: boolean
}

/** Without a hint of the receiver: common servers close after 5 s, and what is closed in mid-send costs a second try. */
const IDLE_MS = 4_000
/** Longer hints are not used: an idle connection is cheap to open again. */
const IDLE_MAX_MS = 30_000
/** A name that leads elsewhere now is followed within this time, however much is sent. */
const AGE_MAX_MS = 300_000
/** In all; beyond it connections are closed after their send. Room for a thousand receivers with two each. */
const IDLE_KEPT = 2_000
/** Of an answer, in all. As much as of its body. */
export const HEADERS_MAX_BYTES = 16 * 1024

/**
 * Open connections by origin. Not undici's own pool: that opens twice as many connections as there are sends at a time,
 * cannot give up a send while it connects, and does not tell whether a connection was used before.
 */
export class Lines {
  readonly #connect: Connect
  readonly #clock: Clock
  /** Each the last used first, so that what is not needed falls idle. No origin without one. */
  readonly #idle = new Map<string, Line[]>()
  readonly #idleKept: number
  #idleCount = 0

  constructor(connect: Connect, clock: Clock, idleKept = IDLE_KEPT) {
    this.#connect = connect
    this.#clock = clock
    this.#idleKept = idleKept
  }

  get idleCount(): number {
    return this.#idleCount
  }

  take(origin: string): Line {
    const line = this.#idle.get(origin)?.at(-1)
    if (!line) return this.open(origin)
    this.#leaveIdle(line)
    return line
  }

  /** A line that nobody has used yet. */
  open(origin: string): Line {
    const line: Line = {
      origin,
      client: new Client(origin, {
        connect: (options, callback) => {
          line.socket = this.#connect(options, (error, socket) => {
            if (error) return callback(error, null)
            line.opened++
            line.openedAt = this.#clock.monotonic()
            callback(null, socket)
          })
        },
        keepAliveTimeout: IDLE_MS,
        keepAliveMaxTimeout: IDLE_MAX_MS,
        maxHeaderSize: HEADERS_MAX_BYTES,
        // A send has one deadline over all.
        headersTimeout: 0,
        bodyTimeout: 0,
      }),
      socket: null,
      opened: 0,
      openedAt: 0,
      idle: false,
    }
    line.client.on('disconnect', () => {
      if (line.idle) this.drop(line)
    })
    return line
  }

  /** For the next send. */
  keep(line: Line): void {
    const age = this.#clock.monotonic() - line.openedAt
    if (this.#idleCount >= this.#idleKept || age > AGE_MAX_MS) return void this.drop(line)
    const others = this.#idle.get(line.origin)
    if (others) others.push(line)
    else this.#idle.set(line.origin, [line])
    line.idle = true
    this.#idleCount++
  }

  /** Whatever its state: a connection that is being opened is given up as well. */
  drop(line: Line): Promise<unknown> {
    if (line.idle) this.#leaveIdle(line)
    const gone = line.client.destroy()
    line.socket?.destroy()
    return gone
  }

  async closeIdle(): Promise<void> {
    await Promise.all([...this.#idle.values()].flat().map((line) => this.drop(line)))
  }

  #leaveIdle(line: Line): void {
    const lines = this.#idle.get(line.origin)!
    lines.splice(lines.lastIndexOf(line), 1)
    if (lines.length === 0) this.#idle.delete(line.origin)
    line.idle = false
    this.#idleCount--
  }
}
