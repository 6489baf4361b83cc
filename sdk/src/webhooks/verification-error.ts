const HINTS = {
  missing_headers:
    'webhook-id, webhook-timestamp or webhook-signature is missing. The request is not from Jeton, or a proxy dropped them.',
  malformed_headers:
    'webhook-timestamp must be whole seconds, and webhook-signature a list of "v1,<base64>".',
  timestamp_too_old:
    'The request was signed too long ago: it was recorded and sent again, or a clock is wrong.',
  timestamp_in_future: 'The request was signed in the future: a clock is wrong.',
  body_not_raw:
    'The body was not passed as it arrived. Read it as bytes before anything parses it, for example with express.raw().',
  body_rewritten: 'The body was parsed and written again. Pass the bytes as they arrived.',
  signature_mismatch: 'The secret belongs to another webhook, or the body was changed.',
  secret_of_another_kind:
    'The secret of a webhook starts with "whsec_" and is shown when the webhook is created or its secret rotated.',
} as const

export type VerificationFailure = keyof typeof HINTS

/** A request that is not proved to come from Jeton. Do not process it. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
  readonly reason: VerificationFailure
  /** Likely cause and remedy. */
  readonly hint: string

  constructor(reason: VerificationFailure, hint: string = HINTS[reason]) {
    super(`${reason}: ${hint}`)
    this.reason = reason
    this.hint = hint
  }
}
