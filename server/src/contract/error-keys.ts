/**
 * Every `key` of an error body. The table is closed: a `Problem` takes its status from here, and
 * `docs/reference/errors.md` and the pages under `/docs/errors/` are generated from it.
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
    when: 'The request has two credentials that differ, an API key together with a bearer token or an unreadable Authorization header, or a session cookie together with X-Management-Id and X-Management-Token.',
    remedy: 'Send one credential, in one place.',
  },
  invalid_grant_type: {
    status: 400,
    oauth: 'unsupported_grant_type',
    when: 'grant_type is not client_credentials.',
    remedy: 'Send grant_type=client_credentials. No other grant is supported.',
  },
  invalid_scope: {
    status: 400,
    oauth: 'invalid_scope',
    when: 'The scope is empty, unknown, in the wrong case, separated by commas, or beyond the permissions of the key.',
    remedy: 'Separate values with single spaces. Request only scopes that the key has.',
  },
  invalid_payload: {
    status: 400,
    oauth: 'invalid_request',
    when: 'The request is malformed (JSON, UTF-8 or percent-encoding), or a field has an invalid value.',
    remedy: 'Fix the field that the message names. The API reference at /docs shows every field.',
  },
  missing_reward: {
    status: 400,
    oauth: 'invalid_request',
    when: 'A redemption request contains no reward.',
    remedy: 'Send reward.id.',
  },
  missing_order: {
    status: 400,
    oauth: 'invalid_request',
    when: 'A COIN reward needs an order, and the request has none.',
    remedy: 'Send order.amount, in the smallest unit of the currency.',
  },
  loyalty_card_points_exceeded: {
    status: 400,
    oauth: 'invalid_request',
    when: 'The loyalty card has fewer points than the request takes.',
    remedy: 'Take fewer points, or add some first. Nothing was taken.',
  },
  reward_out_of_stock: {
    status: 400,
    oauth: 'invalid_request',
    when: 'The reward is out of stock.',
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
    when: 'No free voucher code was found: nearly every code that code_config allows is taken.',
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
    when: 'The campaign has not started.',
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
    when: 'Another resource still uses the resource that you want to delete.',
    remedy: 'First delete the resources that the message names.',
  },
  unauthorized: {
    status: 401,
    oauth: 'invalid_client',
    when: 'The credential is missing, unknown, wrong, expired, revoked, or of a deleted key. The response does not say which, so strangers learn nothing.',
    remedy: 'Check the credential. An operator sees the reason with: jeton explain <request_id>',
  },
  api_key_blocked: {
    status: 401,
    oauth: 'invalid_client',
    when: 'The secret is correct, but the API key is blocked.',
    remedy: 'An operator can unblock it: jeton key unblock <key>. Tokens issued before stay inactive.',
  },
  ip_not_allowed: {
    status: 403,
    oauth: 'unauthorized_client',
    when: 'The client address is not in the ip_whitelist of the API key, or is not allowed to use the management API.',
    remedy:
      'Call from an allowed address, or let an operator extend the allowlist. Behind a proxy, add the proxy to JETON_TRUSTED_PROXIES.',
  },
  forbidden_origin: {
    status: 403,
    oauth: 'unauthorized_client',
    when: 'A request with a session does not come from a page of this service, or a browser tries to sign in where its cookie would not be safe.',
    remedy:
      'Open the console over https, or at localhost. A proxy that terminates TLS must be named in JETON_TRUSTED_PROXIES and send X-Forwarded-Proto: https. Programs send X-Management-Id and X-Management-Token instead of a cookie.',
  },
  insufficient_role: {
    status: 403,
    oauth: 'insufficient_scope',
    when: 'The role of the operator does not allow the call, or the call covers all projects and the operator is limited to some.',
    remedy:
      'Ask an admin for the role that the message names: jeton operator update <operator> --role editor. For one project, use the path below /management/v1/projects/{project_id}.',
  },
  insufficient_scope: {
    status: 403,
    oauth: 'insufficient_scope',
    when: 'The token or key does not cover the call.',
    remedy: 'Request a token with the scope that the message names.',
  },
  not_found: {
    status: 404,
    oauth: 'invalid_request',
    when: 'The path, or the resource in this project, does not exist.',
    remedy: 'Check the path and the id. The API reference at /docs lists every path.',
  },
  method_not_allowed: {
    status: 405,
    oauth: 'invalid_request',
    when: 'The path does not support this method.',
    remedy: 'Use one of the methods in the Allow header.',
  },
  request_timeout: {
    status: 408,
    oauth: 'invalid_request',
    when: 'The request did not arrive completely in time.',
    remedy: 'Retry. The request took too long to arrive.',
  },
  duplicate_found: {
    status: 409,
    oauth: 'invalid_request',
    when: 'A resource with this name already exists.',
    remedy: 'Choose another name, or use the existing resource.',
  },
  idempotency_key_reused: {
    status: 409,
    oauth: 'invalid_request',
    when: 'This Idempotency-Key was used for another request within the last 24 hours.',
    remedy: 'Use a new key for every new request, and the same key only to repeat a request unchanged.',
  },
  invalid_state: {
    status: 409,
    oauth: 'invalid_request',
    when: 'The resource is in a state that does not allow this.',
    remedy: 'Read the resource to see its state. The message names the conflict.',
  },
  source_id_reused: {
    status: 409,
    oauth: 'invalid_request',
    when: 'Another redemption was reported with this `source_id`.',
    remedy: 'Give every redemption its own id, and repeat a report only unchanged.',
  },
  payload_too_large: {
    status: 413,
    oauth: 'invalid_request',
    when: 'The body is larger than 16 KB (forms) or 1 MB (JSON).',
    remedy: 'Send a smaller body.',
  },
  unsupported_media_type: {
    status: 415,
    oauth: 'invalid_request',
    when: 'The endpoint does not accept this Content-Type.',
    remedy: 'OAuth endpoints require application/x-www-form-urlencoded, all others application/json.',
  },
  token_limit_reached: {
    status: 429,
    oauth: 'temporarily_unavailable',
    when: 'The project, or the key if it has its own limit, has reached its limit of active tokens.',
    remedy:
      'Wait for Retry-After seconds. Reuse a token until it expires instead of requesting one per call.',
  },
  too_many_attempts: {
    status: 429,
    oauth: 'temporarily_unavailable',
    when: 'This address sent too many wrong credentials.',
    remedy: 'Wait for Retry-After seconds. A correct credential is still accepted.',
  },
  too_many_requests: {
    status: 429,
    oauth: 'temporarily_unavailable',
    when: 'This operator called an operation more often than its limit allows.',
    remedy: 'Wait for Retry-After seconds.',
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
    when: 'A bug in Jeton. The log has the cause and the request id.',
    remedy: 'Report it with the request id.',
  },
  encryption_unavailable: {
    status: 503,
    oauth: 'temporarily_unavailable',
    when: 'The encryption key of webhook secrets is not set, or does not match a stored secret.',
    remedy: 'Set JETON_ENCRYPTION_KEY to the same value for every process. The message has the details.',
  },
  temporarily_unavailable: {
    status: 503,
    oauth: 'temporarily_unavailable',
    when: 'The database cannot be reached, so Jeton cannot confirm the state of keys.',
    remedy: 'Retry after Retry-After seconds.',
  },
} as const satisfies Record<string, ErrorRow>

export type ErrorKey = keyof typeof ERRORS
