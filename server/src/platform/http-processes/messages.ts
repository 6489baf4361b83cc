import type { Clock } from '../clock.ts'
import type { Family } from '../metric-families.ts'

/** Addresses that an HTTP process listens on, the same for all of a service. */
export type Listening = { readonly url: string; readonly managementUrl: string }

/** Messages from an HTTP process to the supervisor: `total` requests the metrics of the service, `metrics` replies with its own. */
export type FromHttpProcess =
  | ({ readonly kind: 'ready' } & Listening)
  | { readonly kind: 'notification'; readonly topic: string }
  | { readonly kind: 'total'; readonly id: number }
  | { readonly kind: 'metrics'; readonly id: number; readonly families: readonly Family[] }

/** Messages from the supervisor to an HTTP process: `metrics` requests its metrics, `total` replies with those of the service. */
export type ToHttpProcess =
  | { readonly kind: 'notification'; readonly topic: string }
  | { readonly kind: 'metrics'; readonly id: number }
  | { readonly kind: 'total'; readonly id: number; readonly text: string }
  | { readonly kind: 'stop' }

/** Pending requests to another process, each with a timeout. */
export class PendingReplies<Reply> {
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #pending = new Map<number, (reply: Reply) => void>()
  #lastId = 0

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock
    this.#timeoutMs = timeoutMs
  }

  /** Returns the reply, or undefined after the timeout. */
  async request(send: (id: number) => void): Promise<Reply | undefined> {
    const id = ++this.#lastId
    const done = new AbortController()
    const replied = new Promise<Reply>((resolve) => this.#pending.set(id, resolve))
    send(id)
    const timedOut = this.#clock.sleep(this.#timeoutMs, done.signal).then(() => undefined)
    try {
      return await Promise.race([replied, timedOut])
    } finally {
      this.#pending.delete(id)
      done.abort()
    }
  }

  resolve(id: number, reply: Reply): void {
    this.#pending.get(id)?.(reply)
  }
}
