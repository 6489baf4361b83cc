import { ERRORS, type ErrorKey } from './error-keys.ts'

/** What the operator may know of a refusal and the stranger may not. It goes on record, never into an answer. */
export interface Refusal {
  /** The check that failed, such as `secret_wrong`: the vocabulary of `jeton explain`. */
  readonly step: string
  readonly projectId?: string | undefined
  readonly keyId?: string | undefined
}

interface ProblemParts {
  readonly message: string
  readonly details?: string | undefined
  /** RFC 6749 error where it is not the one that the table gives for the key. */
  readonly oauth?: string | undefined
  readonly resource?: { readonly type: string; readonly id: string } | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly refusal?: Refusal | undefined
}

/** An error that a caller meets on purpose. Anything else that is thrown is a bug and answers 500. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly key: ErrorKey
  readonly status: number
  readonly oauth: string
  readonly details: string | undefined
  readonly resource: ProblemParts['resource']
  readonly headers: Readonly<Record<string, string>>
  readonly refusal: Refusal | undefined

  constructor(key: ErrorKey, parts: ProblemParts) {
    super(parts.message)
    this.key = key
    this.status = ERRORS[key].status
    this.oauth = parts.oauth ?? ERRORS[key].oauth
    this.details = parts.details
    this.resource = parts.resource
    this.headers = parts.headers ?? {}
    this.refusal = parts.refusal
  }
}

export const notFound = (type: string, id: string): Problem =>
  new Problem('not_found', {
    message: `There is no ${type.replaceAll('_', ' ')} ${JSON.stringify(id.slice(0, 80))} here.`,
    details: 'Check the id, and that it belongs to this project.',
    resource: { type, id: id.slice(0, 80) },
  })
