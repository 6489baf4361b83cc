import type { Clock } from '../clock.ts'

/** Questions to another process that wait for their answers, and no longer than they may. */
export class Questions<Answer> {
  readonly #clock: Clock
  readonly #withinMs: number
  readonly #open = new Map<number, (answer: Answer) => void>()
  #last = 0

  constructor(clock: Clock, withinMs: number) {
    this.#clock = clock
    this.#withinMs = withinMs
  }

  /** The answer, or undefined where none came in time. */
  async ask(send: (id: number) => void): Promise<Answer | undefined> {
    const id = ++this.#last
    const over = new AbortController()
    const answered = new Promise<Answer>((resolve) => this.#open.set(id, resolve))
    send(id)
    try {
      return await Promise.race([answered, this.#late(over.signal)])
    } finally {
      this.#open.delete(id)
      over.abort()
    }
  }

  answer(id: number, answer: Answer): void {
    this.#open.get(id)?.(answer)
  }

  async #late(signal: AbortSignal): Promise<undefined> {
    await this.#clock.sleep(this.#withinMs, signal)
  }
}
