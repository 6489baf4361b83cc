/** First come, first served. SQLite has one writer: transactions wait here for their turn. */
export class Mutex {
  #held = false
  readonly #waiting: (() => void)[] = []

  async acquire(): Promise<void> {
    if (this.#held) await new Promise<void>((turn) => this.#waiting.push(turn))
    this.#held = true
  }

  release(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#held = false
  }
}
