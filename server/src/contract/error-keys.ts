/**
 * Every `key` that an error body can carry. The table is closed: a `Problem` takes its status from here, and
 * `docs/errors.md` and the pages under `/docs/errors/` are generated from it.
 */
interface ErrorRow {
  readonly status: number
  /** RFC 6749 / 6750 `error` that accompanies the key on OAuth endpoints and in `WWW-Authenticate`. */
  readonly oauth: string
  readonly when: string
  readonly remedy: string
}

export const ERRORS = {
  missing_parameters: {
    status: 400,
    oauth: 'invalid_request',
    when: 'A required field is missing.',
    remedy: 'Send the field that the message names.',
  },
  duplicate_parameter: {
    status: 400,
    oauth: 'invalid_request',
    when: 'A parameter was sent more than once.',
    remedy: 'Send it once.',
  },
  conflicting_credentials: {
    status: 400,
    oauth: 'invalid_request',
    when: 'Two credentials were presented and they differ, or a bearer token came together with a key pair.',
    remedy: 'Send one credential, in one place.',
  },
  invalid_grant_type: {
    status: 400,
    oauth: 'unsupported_grant_type',
    when: 'grant_type is not client_credentials.',
    remedy: 'Send grant_type=client_credentials; no other grant exists here.',
  },
  invalid_scope: {
    status: 400,
    oauth: 'invalid_scope',
    when: 'The scope is empty, has an unknown value, a comma or the wrong case, or goes beyond what the key is permitted.',
    remedy: 'Separate values with one space; ask only for what the key is permitted.',
  },
  invalid_payload: {
    status: 400,
    oauth: 'invalid_request',
    when: 'The request cannot be read (malformed JSON, bad UTF-8, bad percent-encoding) or a field has a value that is not allowed.',
    remedy: 'Mend what the message names; the API reference at /docs shows every field.',
  },
  unauthorized: {
    status: 401,
    oauth: 'invalid_client',
    when: 'The credential is missing, unknown, wrong, expired, revoked, or of a deleted key. Which of these it is, is not told to a stranger.',
    remedy: 'Check the credential. An operator sees the reason with: jeton explain <request_id>',
  },
  api_key_blocked: {
    status: 401,
    oauth: 'invalid_client',
    when: 'The secret is right, but the API key is blocked.',
    remedy: 'An operator can unblock it: jeton key unblock <key>. Tokens issued before stay dead.',
  },
  ip_not_allowed: {
    status: 403,
    oauth: 'unauthorized_client',
    when: "The caller's address is not in the whitelist of the API key, or may not reach the management API.",
    remedy:
      'Call from an allowed address, or let an operator widen the whitelist. Behind a proxy, JETON_TRUSTED_PROXIES must name it.',
  },
  insufficient_scope: {
    status: 403,
    oauth: 'insufficient_scope',
    when: 'The token or key does not cover the call.',
    remedy: 'Ask for a token with the scope that the message names.',
  },
  not_found: {
    status: 404,
    oauth: 'invalid_request',
    when: 'There is no such path, or no such resource in this project.',
    remedy: 'Check the path and the id; the API reference at /docs lists every path.',
  },
  method_not_allowed: {
    status: 405,
    oauth: 'invalid_request',
    when: 'The path exists, but not for this method.',
    remedy: 'Use one of the methods in the Allow header.',
  },
  request_timeout: {
    status: 408,
    oauth: 'invalid_request',
    when: 'The request did not arrive completely in time.',
    remedy: 'Send it again, faster.',
  },
  duplicate_found: {
    status: 409,
    oauth: 'invalid_request',
    when: 'Something with this name exists already.',
    remedy: 'Choose another name, or use the one that exists.',
  },
  invalid_state: {
    status: 409,
    oauth: 'invalid_request',
    when: 'The resource is in a state that does not allow this.',
    remedy: 'Read the resource to see its state; the message names what is in the way.',
  },
  payload_too_large: {
    status: 413,
    oauth: 'invalid_request',
    when: 'The body is larger than 16 KB (forms) or 1 MB (JSON).',
    remedy: 'Send less.',
  },
  unsupported_media_type: {
    status: 415,
    oauth: 'invalid_request',
    when: 'The Content-Type is not the one that this endpoint takes.',
    remedy: 'OAuth endpoints take application/x-www-form-urlencoded, all others application/json.',
  },
  token_limit_reached: {
    status: 429,
    oauth: 'temporarily_unavailable',
    when: 'The project, or the key where it has a limit of its own, has as many active tokens as it may have.',
    remedy:
      'Wait for Retry-After seconds; reuse a token until it expires instead of asking for one per call.',
  },
  too_many_attempts: {
    status: 429,
    oauth: 'temporarily_unavailable',
    when: 'Too many wrong credentials came from this address.',
    remedy: 'Wait for Retry-After seconds. A right credential is served even now.',
  },
  headers_too_large: {
    status: 431,
    oauth: 'invalid_request',
    when: 'The headers of the request are larger than 16 KB.',
    remedy: 'Send fewer or shorter headers.',
  },
  internal_error: {
    status: 500,
    oauth: 'server_error',
    when: 'Jeton has a bug. The log has the cause under the request id.',
    remedy: 'Report it with the request id.',
  },
  temporarily_unavailable: {
    status: 503,
    oauth: 'temporarily_unavailable',
    when: 'The store cannot be reached, so Jeton cannot confirm the state of keys, and it does not guess.',
    remedy: 'Try again after Retry-After seconds.',
  },
} as const satisfies Record<string, ErrorRow>

export type ErrorKey = keyof typeof ERRORS
