import { Problem, type Refusal } from '../../contract/problem.ts'
import { covers, type Scope, wildcardScopeOf } from '../../contract/scopes.ts'
import type { ClientAddress } from '../../platform/http/index.ts'
import {
  type AuthenticationDeps,
  authenticateKey,
  type CachedKey,
  type Credential,
  type EffectiveScopes,
  ipNotAllowed,
  tryAuthenticateKey,
  tryVerifyToken,
  type Verdict,
  verifyToken,
} from '../tokens/index.ts'

export interface Call {
  readonly credential: Credential
  readonly caller: ClientAddress
  /** Required scopes. All must be covered. */
  readonly requiredScopes: readonly Scope[]
  /** The call as messages name it, for example `GET /v1/campaigns`. */
  readonly description: string
}

export interface Allowed {
  readonly key: CachedKey
  /** Effective scope: the part of the token's scope that the key still permits, or the permissions of the key. */
  readonly scope: string
  /** Remaining time of the token; undefined for a key pair. */
  readonly expiresInMs: number | undefined
}

/** A key, authenticated by its secret or by one of its tokens. */
export interface Caller {
  readonly key: CachedKey
  readonly tokenScope: string | undefined
  readonly expiresInMs: number | undefined
}

/**
 * Authorizes a call from the cache by credential (bearer token or key pair), address (allowlist of the key) and scope (token
 * and current permissions of the key). Returns undefined if the cache is not sufficient. Throws a refusal only if the
 * database could not change it.
 */
export function tryAuthorizeCall(deps: AuthenticationDeps, call: Call): Allowed | undefined {
  const caller = tryFindCaller(deps, call)
  return caller && decide(deps, call, caller)
}

/** Authorizes a call, and reads the database if the cache is not sufficient or would refuse because of the key. */
export async function authorizeCall(deps: AuthenticationDeps, call: Call): Promise<Allowed> {
  const caller = await findCaller(deps, call)
  return decide(deps, call, caller) ?? decideFromStore(deps, call, caller)
}

function tryFindCaller(deps: AuthenticationDeps, { credential, caller }: Call): Caller | undefined {
  if (credential.kind === 'none') throw noCredential()
  if (credential.kind === 'bearer') {
    const verdict = tryVerifyToken(deps.tokenCache, credential.accessToken)
    return verdict && callerFromToken(verdict)
  }
  const key = tryAuthenticateKey(deps, credential, caller)
  return key && callerFromKey(key)
}

async function findCaller(deps: AuthenticationDeps, { credential, caller }: Call): Promise<Caller> {
  if (credential.kind === 'none') throw noCredential()
  if (credential.kind === 'bearer')
    return callerFromToken(await verifyToken(deps.tokenCache, credential.accessToken))
  return callerFromKey(await authenticateKey(deps, credential, caller))
}

function callerFromToken(verdict: Verdict): Caller {
  if (!verdict.active) throw tokenNotActive(verdict)
  const { key, token, now } = verdict
  return { key, tokenScope: token.scope, expiresInMs: token.expiresAt - now }
}

const callerFromKey = (key: CachedKey): Caller => ({ key, tokenScope: undefined, expiresInMs: undefined })

function decide(deps: AuthenticationDeps, call: Call, caller: Caller): Allowed | undefined {
  const { key, tokenScope } = caller
  const effective = effectiveScopesOf(key, tokenScope)
  const isAllowedIp = key.allowsIp(call.caller.ip)
  if (isAllowedIp && !missingScope(effective.scopes, call)) return allowed(deps, call, caller, effective)
  // The scope of a token never changes, so the database cannot change this refusal.
  if (isAllowedIp && tokenScope !== undefined && missingScope(tokenScope.split(' '), call))
    throw refusalFor(call, caller)!
  return undefined
}

/** Decides again with the key from the database: its permissions may have been extended, or it may have been blocked. */
async function decideFromStore(deps: AuthenticationDeps, call: Call, { key }: Caller): Promise<Allowed> {
  await deps.tokenCache.loadKey(key.row.project_id, key.row.id)
  const caller = await findCaller(deps, call)
  const refusal = refusalFor(call, caller)
  if (refusal) throw refusal
  return allowed(deps, call, caller, effectiveScopesOf(caller.key, caller.tokenScope))
}

function allowed(
  deps: AuthenticationDeps,
  call: Call,
  { key, expiresInMs }: Caller,
  { text: scope }: EffectiveScopes,
): Allowed {
  deps.lastUsed.record(key, call.caller.ip)
  deps.usage.call(key.row.project_id, key.row.id)
  return { key, scope, expiresInMs }
}

/** Limits the cache per key. Clients use few different scopes. */
const MAX_CACHED_SCOPES = 50

export function effectiveScopesOf(
  { effectiveScopes, permissions }: CachedKey,
  tokenScope: string | undefined,
): EffectiveScopes {
  const known = effectiveScopes.get(tokenScope)
  if (known) return known
  const scopes = tokenScope === undefined ? permissions : intersectScopes(tokenScope.split(' '), permissions)
  const found = { scopes, text: scopes.join(' ') }
  if (effectiveScopes.size < MAX_CACHED_SCOPES) effectiveScopes.set(tokenScope, found)
  return found
}

/** Intersects the scopes of token and key. `api` and `vouchers` intersect in `vouchers`, in either order. */
function intersectScopes(held: readonly string[], permissions: readonly Scope[]): readonly string[] {
  const both = held.filter((scope) => covers(permissions, scope as Scope))
  if (both.length < held.length)
    both.push(...permissions.filter((scope) => !both.includes(scope) && covers(held, scope)))
  return both
}

const missingScope = (
  held: readonly string[],
  { requiredScopes }: Pick<Call, 'requiredScopes'>,
): Scope | undefined => requiredScopes.find((scope) => !covers(held, scope))

/** Lists everything that a call lacks: the address, a scope of the token, a permission of the key. */
export const findFaults = (
  { address, requiredScopes }: { address: string | null; requiredScopes: readonly Scope[] },
  { key, tokenScope }: Pick<Caller, 'key' | 'tokenScope'>,
) => ({
  address: !key.allowsIp(address),
  scope: tokenScope === undefined ? undefined : missingScope(tokenScope.split(' '), { requiredScopes }),
  permission: missingScope(key.permissions, { requiredScopes }),
})

/** Checks the address, then the scope. The address of a key pair was already checked with its secret. */
function refusalFor(call: Call, caller: Caller): Problem | undefined {
  const { key, tokenScope } = caller
  const address = call.caller.ip
  const faults = findFaults({ address, requiredScopes: call.requiredScopes }, caller)
  if (faults.address)
    return ipNotAllowed(
      key,
      address,
      tokenScope === undefined ? 'address_not_allowed' : 'bearer_address_not_allowed',
    )
  return scopeRefusal(call, key, tokenScope, faults)
}

/** The scope of the token comes first. */
export function scopeRefusal(
  call: Pick<Call, 'description'>,
  key: CachedKey,
  tokenScope: string | undefined,
  { scope, permission }: Pick<ReturnType<typeof findFaults>, 'scope' | 'permission'>,
): Problem | undefined {
  if (scope) return insufficientScope(key, call, scope, `This token has: ${tokenScope}.`)
  if (permission)
    return insufficientScope(key, call, permission, `Its API key has: ${key.permissions.join(' ')}.`)
  return undefined
}

const noCredential = (): Problem =>
  new Problem('unauthorized', {
    message: 'No credential was sent.',
    details: 'Send Authorization: Bearer <access_token>, or X-App-Id and X-App-Token.',
    refusal: { step: 'bearer_missing' },
  })

/** Same response for unknown, expired, revoked and malformed tokens, and for tokens of a blocked or deleted key. */
export const tokenNotActive = (refusal: Refusal): Problem =>
  new Problem('unauthorized', {
    message: 'The token is not active.',
    details: 'Request a new token at /v1/oauth/token.',
    oauth: 'invalid_token',
    refusal,
  })

function insufficientScope(
  key: CachedKey,
  { description }: Pick<Call, 'description'>,
  missing: Scope,
  details: string,
): Problem {
  const wildcard = wildcardScopeOf(missing)
  const or = wildcard === missing ? '' : ` or "${wildcard}"`
  return new Problem('insufficient_scope', {
    message: `${description} requires "${missing}"${or}.`,
    details,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${missing}"` },
    refusal: {
      step: 'scope_insufficient',
      keyId: key.row.id,
      projectId: key.row.project_id,
      requiredScope: missing,
    },
  })
}
