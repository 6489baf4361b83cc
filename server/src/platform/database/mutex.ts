import { StoreUnavailable } from './database.ts'

interface Waiting {
  take(): void
}

/** FIFO lock with a timeout: SQLite has one writer, so transactions wait here. */
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

  /** Takes a shared turn that others can join. Nobody can join while another caller waits, which prevents starvation. */
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
