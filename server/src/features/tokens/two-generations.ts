/**
 * A bounded map that forgets what was not used lately. Two plain maps instead of a linked list: when the young one is
 * full it becomes the old one, and what is found in the old one moves back. A hit costs one look-up, and so does what is
 * new: what the old one may still say of it is never asked again, since the young one is asked first and replaces it. At
 * least `kept` entries are held, and never more than twice as many.
 */
export class TwoGenerations<Value> {
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()
  readonly #kept: number

  constructor(kept: number) {
    this.#kept = kept
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old === undefined) return undefined
    this.#old.delete(key)
    this.set(key, old)
    return old
  }

  set(key: string, value: Value): void {
    if (this.#young.size >= this.#kept && !this.#young.has(key)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }

  delete(key: string): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }

  *values(): IterableIterator<Value> {
    yield* this.#young.values()
    yield* this.#old.values()
  }
}
