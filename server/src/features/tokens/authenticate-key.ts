import { Problem } from '../../contract/problem.ts'
import type { ClientAddress, LoginThrottle } from '../../platform/http/index.ts'
import { digestOf } from '../../platform/secrets.ts'
import { matchSecret } from '../api-keys/index.ts'
import type { UsageCounter } from '../usage/index.ts'
import type { CachedKey } from './cached-key.ts'
import type { LastUsedTracker } from './last-used.ts'
import type { TokenCache } from './token-cache.ts'

interface KeyCredentials {
  readonly appId: string
  readonly appToken: string
}

export interface AuthenticationDeps {
  readonly tokenCache: TokenCache
  readonly attempts: LoginThrottle
  readonly lastUsed: LastUsedTracker
  readonly usage: UsageCounter
}

/** Same response for missing, unknown, wrong and deleted. Only the recorded step differs. */
export const keyNotAccepted = (step: string, key?: CachedKey): Problem =>
  new Problem('unauthorized', {
    message: 'The API key was not accepted.',
    details: 'Check X-App-Id and X-App-Token. An operator can see the reason: jeton explain <request_id>',
    refusal: { step, keyId: key?.row.id, projectId: key?.row.project_id },
  })

export const keyBlocked = (key: CachedKey): Problem =>
  new Problem('api_key_blocked', {
    message: 'This API key is blocked.',
    details: 'Its tokens no longer work. An operator can unblock the key to issue new ones.',
    refusal: { step: 'key_blocked', keyId: key.row.id, projectId: key.row.project_id },
  })

export const ipNotAllowed = (key: CachedKey, address: string | null, step = 'address_not_allowed'): Problem =>
  new Problem('ip_not_allowed', {
    message: `This key is not allowed from ${address ?? 'an unknown address'}.`,
    details: 'If this is the address of your proxy, an operator must add it to JETON_TRUSTED_PROXIES.',
    refusal: { step, keyId: key.row.id, projectId: key.row.project_id },
  })

const APP_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

interface Attempt {
  readonly digest: Uint8Array
  readonly now: number
  readonly address: string | null
}

/** Returns why the pair is refused, in the order of the checks; undefined if it is accepted. */
function refusalFor(key: CachedKey | undefined, { digest, now, address }: Attempt): Problem | undefined {
  if (!key) return keyNotAccepted('app_id_unknown')
  if (key.row.state === 'deleted') return keyNotAccepted('key_deleted', key)
  const verdict = matchSecret(key.row, digest, now)
  if (verdict === 'wrong') return keyNotAccepted('secret_wrong', key)
  if (verdict === 'replaced') return keyNotAccepted('secret_replaced', key)
  if (key.row.state === 'blocked') return keyBlocked(key)
  if (!key.allowsIp(address)) return ipNotAllowed(key, address)
  return undefined
}

const attemptOf = (cache: TokenCache, { appToken }: KeyCredentials, caller: ClientAddress): Attempt => ({
  digest: digestOf(appToken),
  now: cache.databaseClock.now(),
  address: caller.plain,
})

/** Returns the key of a pair if the cache accepts it. */
export function tryAuthenticateKey(
  deps: AuthenticationDeps,
  pair: KeyCredentials,
  caller: ClientAddress,
): CachedKey | undefined {
  const key = deps.tokenCache.getKeyByAppId(pair.appId)
  if (!key) return undefined
  const attempt = attemptOf(deps.tokenCache, pair, caller)
  return refusalFor(key, attempt) ? undefined : accepted(deps, key, attempt)
}

/** Also records the use of a secret that has been replaced and works only for its grace period. */
function accepted({ lastUsed }: AuthenticationDeps, key: CachedKey, attempt: Attempt): CachedKey {
  const { previous_until } = key.row
  const isGracePeriod = previous_until !== null && attempt.now < previous_until
  if (isGracePeriod && matchSecret(key.row, attempt.digest, attempt.now) === 'in_grace')
    lastUsed.record(key, attempt.address, true)
  return key
}

/** Returns the key of a pair. Only the database refuses, so a new key, secret or allowlist works everywhere immediately. */
export async function authenticateKey(
  deps: AuthenticationDeps,
  pair: KeyCredentials,
  caller: ClientAddress,
): Promise<CachedKey> {
  const cached = tryAuthenticateKey(deps, pair, caller)
  if (cached) return cached
  const { tokenCache, attempts } = deps
  const key = APP_ID.test(pair.appId) ? await tokenCache.loadKeyByAppId(pair.appId) : undefined
  const attempt = attemptOf(tokenCache, pair, caller)
  const problem = refusalFor(key, attempt)
  if (!problem) return accepted(deps, key!, attempt)
  throw problem.key === 'unauthorized' ? attempts.recordFailure(caller.plain, pair.appId, problem) : problem
}
