/**
 * Limits requests that run at the same time. A flood of different tokens then waits here and does not open a connection
 * for each token.
 */
export class RequestSlots {
  readonly #waiting = new Set<() => void>()
  #free: number

  constructor(count: number) {
    this.#free = count
  }

  /** Runs the action when a slot is free. Returns undefined if none is free in time. */
  async run<Result>(timeoutMs: number, action: () => Promise<Result>): Promise<Result | undefined> {
    if (this.#free > 0) this.#free--
    else if (!(await this.#wait(timeoutMs))) return undefined
    try {
      return await action()
    } finally {
      const [next] = this.#waiting
      if (next) next()
      else this.#free++
    }
  }

  #wait(timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const take = () => {
        clearTimeout(timer)
        this.#waiting.delete(take)
        resolve(true)
      }
      const timer = setTimeout(() => {
        this.#waiting.delete(take)
        resolve(false)
      }, timeoutMs)
      this.#waiting.add(take)
    })
  }
}
