/**
 * The checks of a request in their order, with the text for each result. Only operators see these texts: responses to
 * clients do not tell the cases apart.
 */
interface Step {
  readonly step: string
  readonly passed: string
  readonly failed: string
  readonly remedy: string
  /** The command of the remedy, where it needs nothing but the key. */
  readonly command?: string
}

const MANAGEMENT: readonly Step[] = [
  {
    step: 'management_address',
    passed: 'the address is allowed to use the management API',
    failed: 'the address is not in JETON_MANAGEMENT_ALLOW',
    remedy: 'Add it to JETON_MANAGEMENT_ALLOW. If it is your proxy, add it to JETON_TRUSTED_PROXIES.',
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
      'List operators: jeton operator list. Create one on the host of the store: jeton operator create --local',
    command: 'jeton operator list',
  },
  {
    step: 'management_token_wrong',
    passed: 'the token is correct',
    failed: 'the token does not belong to this operator',
    remedy: 'List operators: jeton operator list. Replace the token: jeton operator regenerate <operator>',
    command: 'jeton operator list',
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
    command: 'jeton session list',
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
    command: 'jeton key list',
  },
  {
    step: 'key_deleted',
    passed: 'the key exists',
    failed: 'the key is deleted and cannot be restored',
    remedy: 'Create a new key: see jeton key create --help',
  },
  {
    step: 'secret_wrong',
    passed: 'the secret belongs to the key',
    failed: 'the secret is neither the current nor the previous secret of this key',
    remedy: 'Configure the client with the current secret, or create a new one: jeton key regenerate <key>',
    command: 'jeton key regenerate <key>',
  },
  {
    step: 'secret_replaced',
    passed: 'the secret is current',
    failed: 'the secret is the previous one, and its grace period has ended',
    remedy:
      'Configure the client with the current secret, or create a new one with a grace period: jeton key regenerate <key> --grace-seconds 86400',
    command: 'jeton key regenerate <key> --grace-seconds 86400',
  },
  {
    step: 'key_blocked',
    passed: 'the key is not blocked',
    failed: 'the key is blocked',
    remedy: 'Unblock it: jeton key unblock <key>. Its old tokens stay invalid.',
    command: 'jeton key unblock <key>',
  },
  {
    step: 'address_not_allowed',
    passed: 'the address is in the IP allowlist of the key',
    failed: 'the address is not in the IP allowlist of the key',
    remedy:
      'If it is your proxy, add it to JETON_TRUSTED_PROXIES. Otherwise allow it: jeton key update <key> --ip-whitelist …',
  },
  {
    step: 'key_limit',
    passed: 'the key had not reached a limit of its own',
    failed: 'the key had reached its own limit of active tokens',
    remedy:
      'Clients should reuse a token until it expires. If the key requires more, raise its limit: jeton key update <key> --token-limit …',
  },
  {
    step: 'project_limit',
    passed: 'the project had not reached its limit of active tokens',
    failed: 'the project had reached its limit of active tokens',
    remedy:
      'Clients should reuse a token until it expires. See which key holds most, and limit it: jeton token usage',
    command: 'jeton token usage',
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
    failed: 'this is not a Jeton token: prefix, length or checksum is wrong',
    remedy: 'Check the client for a truncated or altered token.',
  },
  {
    step: 'bearer_inactive',
    passed: 'the token is active',
    failed: 'the token is unknown, expired, revoked, or its key was blocked or deleted',
    remedy: 'The client must request a new token.',
  },
  {
    step: 'bearer_address_not_allowed',
    passed: "the address is in the IP allowlist of the token's key",
    failed: "the address is not in the IP allowlist of the token's key",
    remedy:
      'If it is your proxy, add it to JETON_TRUSTED_PROXIES. Otherwise allow it: jeton key update <key> --ip-whitelist …',
  },
  {
    step: 'scope_insufficient',
    passed: 'the scope covers the call',
    failed: 'the scope of the token or the current permissions of its key do not cover <scope>',
    remedy: 'Request a token with <scope>, or extend the permissions: jeton key update <key> --permissions …',
  },
]

const GATEWAY: readonly Step[] = [
  {
    step: 'gateway_path',
    passed: 'the proxy sent one plain path of the API',
    failed:
      'the proxy sent no path, two different paths, an ambiguous path, or a path outside of /v1 and /client/v1',
    remedy:
      'The client must call a plain path. If it did, configure the proxy to replace X-Original-URI and X-Forwarded-Uri: see deploy/.',
  },
]

const CHECKS = [MANAGEMENT, SESSION, LOGIN_CODE, CLIENT, BEARER, GATEWAY]

export interface Check {
  readonly step: string
  readonly passed: boolean
  readonly says: string
}

interface Explained {
  readonly steps: Check[]
  readonly remedy: string
  readonly command: string | null
}

interface About {
  readonly keyId: string | null
  readonly requiredScope: string | null
}

/** Returns the checks up to the failed one, and how to fix it. */
export function checksUpTo(step: string, { keyId, requiredScope }: About): Explained {
  const checks = CHECKS.find((steps) => steps.some((one) => one.step === step)) ?? []
  const at = checks.findIndex((one) => one.step === step)
  const named = (text: string) => text.replace('<scope>', requiredScope ? `"${requiredScope}"` : 'the call')
  const steps = checks
    .slice(0, at + 1)
    .map((one, i) => ({ step: one.step, passed: i < at, says: i < at ? one.passed : named(one.failed) }))
  const { remedy = 'Look up the error key in the documentation.', command } = checks[at] ?? {}
  return { steps, remedy: named(remedy), command: command?.replace('<key>', keyId ?? '<key>') ?? null }
}
