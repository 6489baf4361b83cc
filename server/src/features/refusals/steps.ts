/**
 * The checks that a caller passes on its way, in their order, and what each one says when it fails. What the stranger is
 * not told is told here, to operators only.
 */
interface Step {
  readonly step: string
  readonly passed: string
  readonly failed: string
  readonly remedy: string
}

const MANAGEMENT: readonly Step[] = [
  {
    step: 'management_address',
    passed: 'the address may reach the management API',
    failed: 'the address is not in JETON_MANAGEMENT_ALLOW',
    remedy: 'Add it to JETON_MANAGEMENT_ALLOW, or name your proxy in JETON_TRUSTED_PROXIES.',
  },
  {
    step: 'management_credential_missing',
    passed: 'management credentials were sent',
    failed: 'X-Management-Id or X-Management-Token was not sent',
    remedy:
      'Send both headers. The command line takes them from `jeton login` or from JETON_MANAGEMENT_ID and JETON_MANAGEMENT_TOKEN.',
  },
  {
    step: 'management_id_unknown',
    passed: 'the operator exists',
    failed: 'there is no operator with this X-Management-Id',
    remedy:
      'See who there is: jeton operator list. Make one on the machine of the store: jeton operator create --local',
  },
  {
    step: 'management_token_wrong',
    passed: 'the token is right',
    failed: 'the token is not the one of this operator',
    remedy: 'Give it a new one with jeton operator regenerate. To see the operators: jeton operator list',
  },
  {
    step: 'role_insufficient',
    passed: 'the role allows the call',
    failed: 'the role of the operator does not allow the call, or it is limited to some projects',
    remedy: 'An admin can change it: jeton operator update <operator> --role editor',
  },
]

const SESSION: readonly Step[] = [
  {
    step: 'session_origin',
    passed: 'the request came from a page of this service',
    failed: 'the request did not come from a page of this service, or not over https or loopback',
    remedy:
      'If your own console shows this: use https, name the proxy in JETON_TRUSTED_PROXIES, and let it send X-Forwarded-Proto. Otherwise another site has sent it.',
  },
  {
    step: 'session_invalid',
    passed: 'the session is live',
    failed: 'the session is unknown, ended, expired, or its operator was deleted or regenerated',
    remedy: 'Sign in again. See who is signed in: jeton session list',
  },
]

const LOGIN_CODE: readonly Step[] = [
  {
    step: 'login_code_wrong',
    passed: 'the login code is right',
    failed: 'the login code is unknown, was used before, or is older than 60 s',
    remedy: 'Create a new link: POST /management/v1/login-codes',
  },
]

const CLIENT: readonly Step[] = [
  {
    step: 'credential_missing',
    passed: 'a credential was sent',
    failed: 'no credential was sent',
    remedy: 'Send X-App-Id and X-App-Token, or HTTP Basic, or client_id and client_secret in the form.',
  },
  {
    step: 'app_id_unknown',
    passed: 'the app id belongs to a key',
    failed: 'no API key has this app id',
    remedy: 'Check X-App-Id against: jeton key list',
  },
  {
    step: 'key_deleted',
    passed: 'the key exists',
    failed: 'the key is deleted, and nothing brings it back',
    remedy: 'Create a new one: see jeton key create --help',
  },
  {
    step: 'secret_wrong',
    passed: 'the secret belongs to the key',
    failed: 'the secret is not one that this key had lately',
    remedy: 'Give the caller the current secret, or make a new one: jeton key regenerate <key>',
  },
  {
    step: 'secret_replaced',
    passed: 'the secret is the present one',
    failed: 'the secret is the one before the present one, and its grace is over',
    remedy:
      'Give the caller the current secret, or make a new one with time to change: jeton key regenerate <key> --grace-seconds 86400',
  },
  {
    step: 'key_blocked',
    passed: 'the key is not blocked',
    failed: 'the key is blocked',
    remedy: 'Unblock it: jeton key unblock <key>. Its old tokens stay dead.',
  },
  {
    step: 'address_not_allowed',
    passed: 'the address is in the whitelist of the key',
    failed: 'the address is not in the whitelist of the key',
    remedy:
      'Add it: jeton key update <key> --ip-whitelist …; if it is your proxy, name it in JETON_TRUSTED_PROXIES.',
  },
  {
    step: 'limit',
    passed: 'there was room for another token',
    failed: 'the project or the key had as many active tokens as it may have',
    remedy: 'See who holds them: jeton token usage. Clients should reuse a token until it expires.',
  },
]

const BEARER: readonly Step[] = [
  {
    step: 'bearer_missing',
    passed: 'a bearer token was sent',
    failed: 'no bearer token was sent',
    remedy: 'Send Authorization: Bearer <access_token>.',
  },
  {
    step: 'bearer_malformed',
    passed: 'the token is well-formed',
    failed: 'what was sent is not a token of ours: prefix, length or checksum are wrong',
    remedy: 'Look for a cut-off or altered token in the client.',
  },
  {
    step: 'bearer_inactive',
    passed: 'the token is active',
    failed: 'the token is unknown, expired, revoked, or its key was blocked or deleted',
    remedy: 'The client must ask for a new token.',
  },
  {
    step: 'bearer_address_not_allowed',
    passed: "the address is in the whitelist of the token's key",
    failed: "the address is not in the whitelist of the token's key",
    remedy:
      'Add it: jeton key update <key> --ip-whitelist …; if it is your proxy, name it in JETON_TRUSTED_PROXIES.',
  },
  {
    step: 'scope_insufficient',
    passed: 'the scope covers the call',
    failed: 'the scope of the token, or the present permissions of its key, do not cover the call',
    remedy:
      'Ask for a token with the scope that the call needs, or widen the permissions: jeton key update <key> --permissions …',
  },
]

const GATEWAY: readonly Step[] = [
  {
    step: 'gateway_path',
    passed: 'the proxy named one plain path of the API',
    failed:
      'the proxy named no path, two that differ, one that can be read in two ways, or none of /v1 and /client/v1',
    remedy:
      'The client must call a plain path; if it did, the proxy must replace X-Original-URI and X-Forwarded-Uri: see deploy/.',
  },
]

const CHECKS = [MANAGEMENT, SESSION, LOGIN_CODE, CLIENT, BEARER, GATEWAY]

export interface Check {
  readonly step: string
  readonly passed: boolean
  readonly says: string
}

/** The checks up to the one that failed, and how to fix it. */
export function checksUpTo(step: string): { steps: Check[]; remedy: string } {
  const checks = CHECKS.find((steps) => steps.some((one) => one.step === step)) ?? []
  const at = checks.findIndex((one) => one.step === step)
  const steps = checks
    .slice(0, at + 1)
    .map((one, i) => ({ step: one.step, passed: i < at, says: i < at ? one.passed : one.failed }))
  return { steps, remedy: checks[at]?.remedy ?? 'See the error key in the documentation.' }
}
