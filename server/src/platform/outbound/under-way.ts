import type { Exchange } from './exchange.ts'

/**
 * In the order in which they began, which is that of their deadlines: one timer is enough for all of them. Linked, and not in a set:
 * one that changes all the time leaves tables behind that lead to each other, and the collector keeps what they held.
 */
export class UnderWay {
  #first: Exchange | null = null
  #last: Exchange | null = null
  readonly #deadlineMs: number
  #timer: NodeJS.Timeout | undefined

  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs
  }

  add(exchange: Exchange): void {
    exchange.before = this.#last
    if (this.#last) this.#last.after = exchange
    else this.#first = exchange
    this.#last = exchange
    this.#timer ??= setTimeout(this.#expire, this.#deadlineMs)
  }

  /** Once. */
  delete(exchange: Exchange): void {
    const { before, after } = exchange
    if (before) before.after = after
    else this.#first = after
    if (after) after.before = before
    else this.#last = before
    exchange.before = null
    exchange.after = null
    if (this.#first) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  stop(): void {
    while (this.#first) this.#first.stop()
  }

  readonly #expire = (): void => {
    this.#timer = undefined
    while (this.#first) {
      const { leftMs } = this.#first
      if (leftMs > 0) {
        this.#timer ??= setTimeout(this.#expire, Math.ceil(leftMs))
        return
      }
      this.#first.expire()
    }
  }
}
