const MASK = '•••'

/** A secret that is shown once. Logs, text and JSON show only its last four characters. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  get last4(): string {
    return this.#value.slice(-4)
  }

  /** The only access to the secret. */
  reveal(): string {
    return this.#value
  }

  toString(): string {
    return MASK + this.last4
  }

  toJSON(): string {
    return this.toString()
  }

  /** For `console.log` in Node and Bun. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString()
  }

  [Symbol.for('Deno.customInspect')](): string {
    return this.toString()
  }
}
