import type { Scope } from '../generated/scopes.ts'

/** The API client that makes a call. */
export interface Caller {
  readonly projectId: string
  readonly keyId: string
  /** Stays the same if the secret of the key is replaced. */
  readonly clientId: string
  /** Scopes that the token and the present permissions of its key both cover. */
  readonly scope: readonly Scope[]
}

/**
 * Why a call is not allowed. `missing` to `ip_not_allowed` are refusals. The others mean that nothing is known, and answer
 * 503: `unavailable`, Jeton gave no usable answer; `address_unknown`, your server does not know the address of its caller;
 * `not_trusted`, Jeton did not use the address that it got.
 */
export type Refusal =
  | 'missing'
  | 'malformed'
  | 'inactive'
  | 'insufficient_scope'
  | 'ip_not_allowed'
  | 'unavailable'
  | 'address_unknown'
  | 'not_trusted'

export interface Allowed {
  readonly allowed: true
  readonly caller: Caller
}

/** A refusal with the response to send. */
export interface Refused {
  readonly allowed: false
  readonly status: 401 | 403 | 503
  readonly reason: Refusal
  /** For operators: what happened and what to do. Not part of the response. */
  readonly message: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type Verdict = Allowed | Refused

const STATUS = {
  missing: [401, 'unauthorized', 'Send an access token in the Authorization header.'],
  malformed: [401, 'unauthorized', 'The token is not active.'],
  inactive: [401, 'unauthorized', 'The token is not active.'],
  insufficient_scope: [403, 'insufficient_scope', 'The token does not cover this call.'],
  ip_not_allowed: [403, 'ip_not_allowed', 'The token may not be used from this address.'],
  unavailable: [503, 'temporarily_unavailable', 'The token cannot be checked now.'],
  address_unknown: [503, 'temporarily_unavailable', 'The token cannot be checked now.'],
  not_trusted: [503, 'temporarily_unavailable', 'The token cannot be checked now.'],
} as const

interface Details {
  readonly scope?: Scope
  readonly requestId?: string | null | undefined
  readonly message?: string
}

function challenge(reason: Refusal, scope: Scope | undefined): Record<string, string> {
  const [status] = STATUS[reason]
  if (status === 503) return { 'retry-after': '1' }
  if (reason === 'missing') return { 'www-authenticate': 'Bearer' }
  if (status === 401) return { 'www-authenticate': 'Bearer error="invalid_token"' }
  if (reason === 'ip_not_allowed') return {}
  return { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` }
}

/** A refusal in the format of Jeton's errors. Malformed, unknown and expired tokens get the same bytes. */
export function refuse(reason: Refusal, { scope, requestId, message }: Details = {}): Refused {
  const [status, key, says] = STATUS[reason]
  return {
    allowed: false,
    status,
    reason,
    message: message ?? says,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      ...challenge(reason, scope),
      ...(requestId && { 'x-request-id': requestId }),
    },
    body: JSON.stringify({ code: status, key, message: says, ...(requestId && { request_id: requestId }) }),
  }
}

export const responseOf = ({ status, headers, body }: Refused): Response =>
  new Response(body, { status, headers })
