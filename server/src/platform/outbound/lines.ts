import type { Socket } from 'node:net'
import type { Clock } from '../clock.ts'
import type { Connect } from './connect.ts'

/** Who is sending over a line. */
export interface LineUser {
  /** The connection is there. */
  opened(): void
  /** The bytes are to be read at once: the next ones come into the same place. */
  heard(bytes: Buffer): void
  /** The other side says no more, or there is an error: nothing else comes. */
  lost(error: Error | null): void
}

/** A connection to one origin that serves one send after the other. */
export interface Line {
  readonly origin: string
  readonly isSecure: boolean
  /** Null where the guard forbids it. */
  socket: Socket | null
  /** It has served a send before. */
  isReused: boolean
  openedAt: number
  user: LineUser | null
  /** While nobody uses it: until when. */
  idleUntil: number
}

/** Without a hint of the receiver: common servers close after 5 s, and what is closed in mid-send costs a second try. */
const IDLE_MS = 4_000
/** Longer hints are not used: an idle connection is cheap to open again. */
const IDLE_MAX_MS = 30_000
/** The way of the next send, and of the receiver's own farewell. */
const IDLE_LESS_MS = 2_000
const LOOK_EVERY_MS = 500
/** A name that leads elsewhere now is followed within this time, however much is sent. */
const AGE_MAX_MS = 300_000
/** In all; beyond it connections are closed after their send. Room for a thousand receivers with two each. */
const IDLE_KEPT = 2_000

/** Where all connections read into, each for the moment in which what came is read. */
const PLACE = Buffer.allocUnsafeSlow(64 * 1024)

/** Open connections by origin. */
export class Lines {
  readonly #connect: Connect
  readonly #clock: Clock
  /** Each the last used first, so that what is not needed falls idle. An origin that has none is forgotten by the next look. */
  readonly #idle = new Map<string, Line[]>()
  readonly #idleKept: number
  #idleCount = 0
  #looking: NodeJS.Timeout | undefined

  constructor(connect: Connect, clock: Clock, idleKept = IDLE_KEPT) {
    this.#connect = connect
    this.#clock = clock
    this.#idleKept = idleKept
  }

  get idleCount(): number {
    return this.#idleCount
  }

  /** One that was used before, and is open, if there is one. */
  take(origin: string, user: LineUser): Line | undefined {
    const idle = this.#idle.get(origin)
    const now = this.#clock.monotonic()
    for (let line = idle?.pop(); line; line = idle!.pop()) {
      const isLate = line.idleUntil <= now
      this.#wake(line)
      if (isLate) this.drop(line)
      else {
        line.user = user
        return line
      }
    }
    return undefined
  }

  /** A line that nobody has used yet, on its way. */
  open(url: URL, user: LineUser): Line {
    const line: Line = {
      origin: url.origin,
      isSecure: url.protocol === 'https:',
      socket: null,
      isReused: false,
      openedAt: this.#clock.monotonic(),
      user,
      idleUntil: 0,
    }
    const lost = (error: Error | null) => this.#lost(line, error)
    line.socket = this.#connect({
      url,
      onread: { buffer: PLACE, callback: (length, bytes) => this.#heard(line, bytes as Buffer, length) },
      ready(error) {
        if (error) lost(error)
        else line.user?.opened()
      },
    })
    line.socket?.on('error', lost)
    line.socket?.on('end', () => lost(null))
    line.socket?.on('close', () => lost(null))
    return line
  }

  #heard(line: Line, bytes: Buffer, length: number): boolean {
    if (line.user) line.user.heard(bytes.subarray(0, length))
    else this.drop(line)
    return true
  }

  #lost(line: Line, error: Error | null): void {
    const { user } = line
    if (user) user.lost(error)
    else this.drop(line)
  }

  /** For the next send. The receiver may have said how long it keeps it. */
  keep(line: Line, hintMs: number | null): void {
    const now = this.#clock.monotonic()
    const idleMs = hintMs === null ? IDLE_MS : Math.min(hintMs - IDLE_LESS_MS, IDLE_MAX_MS)
    line.user = null
    if (this.#idleCount >= this.#idleKept || now - line.openedAt > AGE_MAX_MS || idleMs <= 0) {
      this.drop(line)
      return
    }
    const others = this.#idle.get(line.origin)
    if (others) others.push(line)
    else this.#idle.set(line.origin, [line])
    line.isReused = true
    line.idleUntil = now + idleMs
    this.#idleCount++
    this.#looking ??= setInterval(this.#look, LOOK_EVERY_MS).unref()
  }

  /** Whatever its state: a connection that is being opened is given up as well. */
  drop(line: Line): void {
    line.user = null
    if (line.idleUntil > 0) this.#leaveIdle(line)
    line.socket?.destroy()
  }

  closeIdle(): void {
    for (const line of [...this.#idle.values()].flat()) this.drop(line)
  }

  readonly #look = (): void => {
    const now = this.#clock.monotonic()
    for (const [origin, lines] of this.#idle) {
      for (const line of [...lines]) if (line.idleUntil <= now) this.drop(line)
      if (lines.length === 0) this.#idle.delete(origin)
    }
    if (this.#idle.size > 0) return
    clearInterval(this.#looking)
    this.#looking = undefined
  }

  #leaveIdle(line: Line): void {
    const lines = this.#idle.get(line.origin)!
    lines.splice(lines.lastIndexOf(line), 1)
    this.#wake(line)
  }

  /** It is in no list any more. */
  #wake(line: Line): void {
    line.idleUntil = 0
    this.#idleCount--
  }
}
