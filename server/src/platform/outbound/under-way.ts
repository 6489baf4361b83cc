import type { Exchange } from './exchange.ts'

/** In the order in which they began, which is that of their deadlines: one timer is enough for all of them. */
export class UnderWay {
  readonly #exchanges = new Set<Exchange>()
  readonly #deadlineMs: number
  #timer: NodeJS.Timeout | undefined

  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs
  }

  add(exchange: Exchange): void {
    this.#exchanges.add(exchange)
    this.#timer ??= setTimeout(this.#expire, this.#deadlineMs)
  }

  delete(exchange: Exchange): void {
    this.#exchanges.delete(exchange)
    if (this.#exchanges.size > 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  stop(): void {
    for (const exchange of this.#exchanges) exchange.stop()
  }

  readonly #expire = (): void => {
    this.#timer = undefined
    for (const exchange of this.#exchanges) {
      const { leftMs } = exchange
      if (leftMs > 0) {
        this.#timer ??= setTimeout(this.#expire, Math.ceil(leftMs))
        return
      }
      exchange.expire()
    }
  }
}
