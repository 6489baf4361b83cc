import type { Scope } from '../generated/scopes.ts'

/** Answer of the token endpoint. Stores of tokens keep it, with the time in `expires_at`. */
export interface TokenFields {
  readonly access_token: string
  readonly client_id: string
  readonly expires_at: number
  readonly expires_in: number
  readonly scope: string
}

/** A token with its remaining time. The value is not in logs or JSON of this object. */
export class AccessToken {
  readonly #value: string
  readonly #remainingMs: () => number
  readonly clientId: string
  readonly scope: readonly Scope[]
  /** Expiry by the clock of the server, for display. */
  readonly expiresAt: Date

  constructor(fields: TokenFields, remainingMs: () => number) {
    this.#value = fields.access_token
    this.#remainingMs = remainingMs
    this.clientId = fields.client_id
    this.scope = fields.scope.split(' ') as Scope[]
    this.expiresAt = new Date(fields.expires_at * 1000)
  }

  get value(): string {
    return this.#value
  }

  /** Milliseconds left by the monotonic clock of this machine. A wrong wall clock does not change them. */
  remainingMs(): number {
    return Math.max(0, this.#remainingMs())
  }
}

/** True for an answer with every field of a token. A proxy may have answered instead of Jeton. */
export function isToken(value: unknown): value is TokenFields {
  const { access_token, client_id, expires_at, expires_in, scope } = (value ?? {}) as Partial<TokenFields>
  return (
    typeof access_token === 'string' &&
    typeof client_id === 'string' &&
    typeof scope === 'string' &&
    Number.isFinite(expires_at) &&
    Number.isFinite(expires_in)
  )
}
