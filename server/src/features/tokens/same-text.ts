import { ownText } from '../../platform/own-text.ts'

/** More different texts than keys and scopes in use at once; beyond that it begins anew. */
const KEPT = 50_000

/** Gives back the first of equal texts, so that a text that recurs is held in memory once. */
export class SameText {
  readonly #known = new Map<string, string>()

  of(text: string): string {
    const known = this.#known.get(text)
    if (known !== undefined) return known
    if (this.#known.size >= KEPT) this.#known.clear()
    const own = ownText(text)
    this.#known.set(own, own)
    return own
  }
}
