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
  readonly needed: readonly Scope[]
  /** Description of the call for messages, for example `GET /v1/campaigns`. */
  readonly what: string
}

export interface Allowed {
  readonly key: CachedKey
  /** Effective scope: the part of the token's scope that the key still permits, or the permissions of the key. */
  readonly scope: string
}

/** A key, authenticated by its secret or by one of its tokens. */
export interface Caller {
  readonly key: CachedKey
  readonly tokenScope: string | undefined
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
  if (credential.kind === 'none') throw nothingSent()
  if (credential.kind === 'bearer') {
    const verdict = tryVerifyToken(deps.tokenCache, credential.accessToken)
    return verdict && callerFromToken(verdict)
  }
  const key = tryAuthenticateKey(deps, credential, caller)
  return key && callerFromKey(key)
}

async function findCaller(deps: AuthenticationDeps, { credential, caller }: Call): Promise<Caller> {
  if (credential.kind === 'none') throw nothingSent()
  if (credential.kind === 'bearer')
    return callerFromToken(await verifyToken(deps.tokenCache, credential.accessToken))
  return callerFromKey(await authenticateKey(deps, credential, caller))
}

function callerFromToken(verdict: Verdict): Caller {
  if (!verdict.active) throw notActive(verdict)
  return { key: verdict.key, tokenScope: verdict.token.scope }
}

const callerFromKey = (key: CachedKey): Caller => ({ key, tokenScope: undefined })

function decide(deps: AuthenticationDeps, call: Call, caller: Caller): Allowed | undefined {
  const { key, tokenScope } = caller
  const rights = effectiveScopesOf(key, tokenScope)
  const isAllowedIp = key.allowsIp(call.caller.plain)
  if (isAllowedIp && !missingScope(rights.scopes, call)) return allowed(deps, call, key, rights)
  // The scope of a token never changes, so the database cannot change this refusal.
  if (isAllowedIp && tokenScope !== undefined && missingScope(tokenScope.split(' '), call))
    throw refusalFor(call, caller)!
  return undefined
}

/** Decides again with the key from the database: its permissions may have been extended, or it may have been blocked. */
async function decideFromStore(deps: AuthenticationDeps, call: Call, { key }: Caller): Promise<Allowed> {
  await deps.tokenCache.loadKey(key.row.project_id, key.row.id)
  const caller = await findCaller(deps, call)
  const fault = refusalFor(call, caller)
  if (fault) throw fault
  return allowed(deps, call, caller.key, effectiveScopesOf(caller.key, caller.tokenScope))
}

function allowed(
  deps: AuthenticationDeps,
  call: Call,
  key: CachedKey,
  { text: scope }: EffectiveScopes,
): Allowed {
  deps.lastUsed.record(key, call.caller.plain)
  deps.usage.call(key.row.project_id, key.row.id)
  return { key, scope }
}

/** Limits the cache per key. Clients use few different scopes. */
const MAX_CACHED_RIGHTS = 50

export function effectiveScopesOf(
  { rights, permissions }: CachedKey,
  tokenScope: string | undefined,
): EffectiveScopes {
  const known = rights.get(tokenScope)
  if (known) return known
  const scopes = tokenScope === undefined ? permissions : intersectScopes(tokenScope.split(' '), permissions)
  const found = { scopes, text: scopes.join(' ') }
  if (rights.size < MAX_CACHED_RIGHTS) rights.set(tokenScope, found)
  return found
}

/** Intersects the scopes of token and key. `api` and `vouchers` intersect in `vouchers`, in either order. */
function intersectScopes(held: readonly string[], permissions: readonly Scope[]): readonly string[] {
  const both = held.filter((scope) => covers(permissions, scope as Scope))
  if (both.length < held.length)
    both.push(...permissions.filter((scope) => !both.includes(scope) && covers(held, scope)))
  return both
}

const missingScope = (held: readonly string[], { needed }: Pick<Call, 'needed'>): Scope | undefined =>
  needed.find((scope) => !covers(held, scope))

/** Checks the address, then the scope. The address of a key pair was already checked with its secret. */
function refusalFor(call: Call, caller: Caller): Problem | undefined {
  const { key, tokenScope } = caller
  if (!key.allowsIp(call.caller.plain))
    return ipNotAllowed(
      key,
      call.caller.plain,
      tokenScope === undefined ? 'address_not_allowed' : 'bearer_address_not_allowed',
    )
  return scopeRefusalFor(call, caller)
}

export function scopeRefusalFor(
  call: Pick<Call, 'needed' | 'what'>,
  { key, tokenScope }: Caller,
): Problem | undefined {
  const byToken = tokenScope === undefined ? undefined : missingScope(tokenScope.split(' '), call)
  if (byToken) return insufficient(key, call, byToken, `This token has: ${tokenScope}.`)
  const byKey = missingScope(key.permissions, call)
  if (byKey) return insufficient(key, call, byKey, `Its API key has: ${key.permissions.join(' ')}.`)
  return undefined
}

const nothingSent = (): Problem =>
  new Problem('unauthorized', {
    message: 'No credential was sent.',
    details: 'Send Authorization: Bearer <access_token>, or X-App-Id and X-App-Token.',
    refusal: { step: 'bearer_missing' },
  })

/** Same response for unknown, expired, revoked and malformed tokens, and for tokens of a blocked or deleted key. */
export const notActive = (refusal: Refusal): Problem =>
  new Problem('unauthorized', {
    message: 'The token is not active.',
    details: 'Request a new token at /v1/oauth/token.',
    oauth: 'invalid_token',
    refusal,
  })

function insufficient(key: CachedKey, { what }: Pick<Call, 'what'>, lacking: Scope, holds: string): Problem {
  const whole = wildcardScopeOf(lacking)
  const or = whole === lacking ? '' : ` or "${whole}"`
  return new Problem('insufficient_scope', {
    message: `${what} requires "${lacking}"${or}.`,
    details: holds,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${lacking}"` },
    refusal: { step: 'scope_insufficient', keyId: key.row.id, projectId: key.row.project_id },
  })
}
