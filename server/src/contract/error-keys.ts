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
    when: 'Two credentials were presented and they differ, or a bearer token or an Authorization header that cannot be read came together with a key pair.',
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
  missing_reward: {
    status: 400,
    oauth: 'invalid_request',
    when: 'A redemption does not say which reward is meant.',
    remedy: 'Send reward.id.',
  },
  missing_order: {
    status: 400,
    oauth: 'invalid_request',
    when: 'Points are to be turned into an amount off an order, and there is no order.',
    remedy: 'Send order.amount, in the smallest unit of the currency.',
  },
  loyalty_card_points_exceeded: {
    status: 400,
    oauth: 'invalid_request',
    when: 'The loyalty card holds fewer points than are to be taken.',
    remedy: 'Take fewer points, or add some first. Nothing was taken.',
  },
  reward_out_of_stock: {
    status: 400,
    oauth: 'invalid_request',
    when: 'Nothing is left of the reward.',
    remedy: 'Choose another reward, or raise its stock. No points were taken.',
  },
  voucher_disabled: {
    status: 400,
    oauth: 'invalid_request',
    when: 'The loyalty card is not active.',
    remedy:
      'Activate it: PUT /v1/vouchers/{code} with {"active":true}. Cards of deleted customers stay inactive.',
  },
  voucher_not_active: {
    status: 400,
    oauth: 'invalid_request',
    when: 'The loyalty card is not valid yet.',
    remedy: 'Wait until its start_date, or change it.',
  },
  voucher_expired: {
    status: 400,
    oauth: 'invalid_request',
    when: 'The loyalty card has expired.',
    remedy: 'Change its expiration_date.',
  },
  voucher_codes_exhausted: {
    status: 400,
    oauth: 'invalid_request',
    when: 'No free code was found: nearly every code that code_config allows is taken.',
    remedy: 'Give the campaign a longer code or a larger charset.',
  },
  campaign_inactive: {
    status: 400,
    oauth: 'invalid_request',
    when: 'The campaign is not active.',
    remedy: 'Activate it: PUT with {"active":true}.',
  },
  campaign_not_started: {
    status: 400,
    oauth: 'invalid_request',
    when: 'The campaign has not begun.',
    remedy: 'Wait until its start_date, or change it.',
  },
  campaign_ended: {
    status: 400,
    oauth: 'invalid_request',
    when: 'The campaign has ended.',
    remedy: 'Change its expiration_date.',
  },
  resource_in_use: {
    status: 400,
    oauth: 'invalid_request',
    when: 'Something else still needs the resource that is to be deleted.',
    remedy: 'Delete first what the message names.',
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
  idempotency_key_reused: {
    status: 409,
    oauth: 'invalid_request',
    when: 'This Idempotency-Key was used for another request within the last 24 hours.',
    remedy: 'Use a new key for every new request, and the same one only to repeat a request unchanged.',
  },
  invalid_state: {
    status: 409,
    oauth: 'invalid_request',
    when: 'The resource is in a state that does not allow this.',
    remedy: 'Read the resource to see its state; the message names what is in the way.',
  },
  source_id_reused: {
    status: 409,
    oauth: 'invalid_request',
    when: 'Another redemption was reported under this `source_id` before.',
    remedy: 'Give every redemption an id of its own; repeat a report only unchanged.',
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
  encryption_unavailable: {
    status: 503,
    oauth: 'temporarily_unavailable',
    when: 'A secret of a webhook must be stored or read, and the encryption key is not set, or is not the one that it was stored with.',
    remedy: 'Set JETON_ENCRYPTION_KEY to the same value for every process; the message says more.',
  },
  temporarily_unavailable: {
    status: 503,
    oauth: 'temporarily_unavailable',
    when: 'The store cannot be reached, so Jeton cannot confirm the state of keys, and it does not guess.',
    remedy: 'Try again after Retry-After seconds.',
  },
} as const satisfies Record<string, ErrorRow>

export type ErrorKey = keyof typeof ERRORS
