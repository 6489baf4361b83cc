import { StoreUnavailable } from './database.ts'

interface Waiting {
  take(): void
}

/** First come, first served. SQLite has one writer: transactions wait here for their turn, but not for ever. */
export class Mutex {
  #held = false
  readonly #waiting: Waiting[] = []

  async acquire(withinMs: number): Promise<void> {
    if (this.#held) await this.#turn(withinMs)
    this.#held = true
  }

  release(): void {
    const next = this.#waiting.shift()
    if (next) next.take()
    else this.#held = false
  }

  #turn(withinMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = {
        take() {
          clearTimeout(timer)
          resolve()
        },
      }
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(new StoreUnavailable(`SQLite: the writer was not free for ${withinMs / 1000} s.`))
      }, withinMs)
      this.#waiting.push(waiting)
    })
  }
}
