import { StoreUnavailable } from './database.ts'

interface Waiting {
  take(): void
}

/** First come, first served. SQLite has one writer: transactions wait here for their turn, but not for ever. */
export class Mutex {
  #held = false
  #sharing = 0
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

  /** Takes a turn that others who share theirs may join; nobody does while somebody waits, or that one might for ever. */
  async share(withinMs: number): Promise<void> {
    const mayJoin = this.#sharing > 0 && this.#waiting.length === 0
    if (this.#held && !mayJoin) await this.#turn(withinMs)
    this.#held = true
    this.#sharing++
  }

  leave(): void {
    this.#sharing--
    if (this.#sharing === 0) this.release()
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
