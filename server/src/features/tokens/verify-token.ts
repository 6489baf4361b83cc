import type { CachedKey } from './cached-key.ts'
import { cacheKeyOf, parseAccessToken } from './token.ts'
import type { CachedToken, TokenCache } from './token-cache.ts'

/** An inactive verdict carries its reason only for the refusal record: clients get the same bytes in every case. */
export type Verdict =
  | {
      readonly active: false
      readonly step: 'bearer_malformed' | 'bearer_inactive'
      readonly keyId?: string
      readonly projectId?: string
    }
  | { readonly active: true; readonly token: CachedToken; readonly key: CachedKey; readonly now: number }

const MALFORMED: Verdict = { active: false, step: 'bearer_malformed' }
const UNKNOWN: Verdict = { active: false, step: 'bearer_inactive' }

/** Returns the verdict if it follows from the cache. Reads and writes nothing else. */
export function tryVerifyToken(
  cache: TokenCache,
  accessToken: string,
  inProject?: string,
): Verdict | undefined {
  const token = cache.get(cacheKeyOf(accessToken))
  if (!token) return undefined
  if (inProject !== undefined && token.projectId !== inProject) return UNKNOWN
  const key = cache.getKey(token.keyId, token.epoch)
  return key && evaluate(cache, token, key)
}

/**
 * Returns the verdict, and reads the database if necessary. A token is active if it is well-formed, stored, not revoked, not
 * expired and of its key's current epoch. A malformed token, or one of another project than the caller's, costs no query.
 * Throws StoreUnavailable if the database does not answer.
 */
export async function verifyToken(
  cache: TokenCache,
  accessToken: string,
  inProject?: string,
): Promise<Verdict> {
  const locator = parseAccessToken(accessToken)
  if (locator === null) return MALFORMED
  if (inProject !== undefined && locator.projectId !== inProject) return UNKNOWN
  const cacheKey = cacheKeyOf(accessToken)
  const token = cache.get(cacheKey) ?? (await cache.load(locator, cacheKey))
  if (!token) return UNKNOWN
  const key = cache.getKey(token.keyId, token.epoch) ?? (await cache.loadKey(locator.projectId, token.keyId))
  return evaluate(cache, token, key)
}

/** Conditions of an active token. All must hold; an access check reports each of them. */
export const isUnexpired = (token: CachedToken, now: number): boolean => now < token.expiresAt
export const isKeyActive = ({ row }: CachedKey): boolean => row.state === 'active'
export const isOfCurrentEpoch = (token: CachedToken, { row }: CachedKey): boolean => row.epoch === token.epoch

function evaluate(cache: TokenCache, token: CachedToken, key: CachedKey | undefined): Verdict {
  const now = cache.databaseClock.now()
  const isActive =
    key && !token.revoked && isUnexpired(token, now) && isKeyActive(key) && isOfCurrentEpoch(token, key)
  return isActive
    ? { active: true, token, key, now }
    : { active: false, step: 'bearer_inactive', keyId: token.keyId, projectId: token.projectId }
}
