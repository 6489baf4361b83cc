import { ERRORS, type ErrorKey } from './error-keys.ts'

/** Details of a refusal that only operators may see. They are recorded, and never part of a response. */
export interface Refusal {
  /** Name of the failed check, for example `secret_wrong`, as in `jeton explain`. */
  readonly step: string
  readonly projectId?: string | undefined
  readonly keyId?: string | undefined
  /** The scope that the call lacked. */
  readonly requiredScope?: string | undefined
}

interface ProblemParts {
  readonly message: string
  readonly details?: string | undefined
  /** RFC 6749 error, if it differs from the one of the key. */
  readonly oauth?: string | undefined
  readonly resource?: { readonly type: string; readonly id: string } | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly refusal?: Refusal | undefined
}

/** An expected error of a request. Anything else that is thrown is a bug and returns 500. */
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
    message: `Not found: ${type.replaceAll('_', ' ')} ${JSON.stringify(id.slice(0, 80))}.`,
    details: 'Check the id, and that it belongs to this project.',
    resource: { type, id: id.slice(0, 80) },
  })
