import type { ErrorKey } from './generated/error-keys.ts'

interface ErrorParts {
  readonly key: string
  readonly status: number
  readonly message: string
  readonly details?: string | undefined
  readonly requestId?: string | undefined
  readonly docUrl?: string | undefined
  readonly retryAfterMs?: number | undefined
}

/** An answer of Jeton that refuses a request. */
export class JetonError extends Error {
  override readonly name = 'JetonError'
  /** Stable name of the error. A newer server may send one that this version does not list. */
  readonly key: ErrorKey
  readonly status: number
  /** The remedy. */
  readonly details: string | undefined
  /** `jeton explain <request id>` shows operators which check failed. */
  readonly requestId: string | undefined
  /** Page about this error. */
  readonly docUrl: string | undefined
  readonly retryAfterMs: number | undefined

  constructor(parts: ErrorParts) {
    super(parts.message)
    this.key = parts.key as ErrorKey
    this.status = parts.status
    this.details = parts.details
    this.requestId = parts.requestId
    this.docUrl = parts.docUrl
    this.retryAfterMs = parts.retryAfterMs
  }

  /** True for a JetonError with one of these keys, or with any key if none is named. */
  static is<Key extends ErrorKey>(
    error: unknown,
    ...keys: readonly Key[]
  ): error is JetonError & { readonly key: Key } {
    return error instanceof JetonError && (keys.length === 0 || keys.includes(error.key as Key))
  }
}

interface UnavailableParts {
  readonly cause?: unknown
  readonly requestId?: string | undefined
  readonly retryAfterMs?: number | undefined
}

/** Jeton did not answer, or could not decide. Nothing is known: this is not a refusal. */
export class JetonUnavailable extends Error {
  override readonly name = 'JetonUnavailable'
  readonly requestId: string | undefined
  readonly retryAfterMs: number | undefined

  constructor(message: string, { cause, requestId, retryAfterMs }: UnavailableParts = {}) {
    super(message, { cause })
    this.requestId = requestId
    this.retryAfterMs = retryAfterMs
  }
}
