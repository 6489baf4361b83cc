import { Problem } from '../../contract/problem.ts'
import { covers, type Scope, wholeSideOf } from '../../contract/scopes.ts'
import type { ClientAddress } from '../../platform/http/index.ts'
import {
  type AuthenticationDeps,
  addressRefused,
  authenticateKey,
  type CachedKey,
  type Presented,
  type Rights,
  tryAuthenticateKey,
  tryVerifyToken,
  type Verdict,
  verifyToken,
} from '../tokens/index.ts'

export interface Call {
  readonly presented: Presented
  readonly caller: ClientAddress
  /** All of them must be covered; one, for a path. */
  readonly needed: readonly Scope[]
  /** For people: `GET /v1/campaigns`. */
  readonly what: string
}

export interface Allowed {
  readonly key: CachedKey
  /** What the caller may do now: of the token's scope what its key is still permitted, or the permissions of the key. */
  readonly scope: string
}

/** A key, proved by its pair or by a token of it. */
interface Caller {
  readonly key: CachedKey
  readonly tokenScope: string | undefined
}

/**
 * Whether a call may be made: who (bearer or pair), from where (whitelist of the key), what (scope of the token and
 * present permissions of the key). Undefined where the cache cannot allow it. Refusals that the database could not change
 * are thrown.
 */
export function tryAuthorizeCall(deps: AuthenticationDeps, call: Call): Allowed | undefined {
  const caller = tryFindCaller(deps, call)
  return caller && decide(deps, call, caller)
}

/** The same, from the database where necessary: no call is refused for what the cache says of a key. */
export async function authorizeCall(deps: AuthenticationDeps, call: Call): Promise<Allowed> {
  const caller = await findCaller(deps, call)
  return decide(deps, call, caller) ?? decideFromStore(deps, call, caller)
}

function tryFindCaller(deps: AuthenticationDeps, { presented, caller }: Call): Caller | undefined {
  if (presented.kind === 'nothing') throw nothingSent()
  if (presented.kind === 'bearer') {
    const verdict = tryVerifyToken(deps.tokenCache, presented.accessToken)
    return verdict && ofToken(verdict)
  }
  const key = tryAuthenticateKey(deps, presented, caller)
  return key && ofPair(key)
}

async function findCaller(deps: AuthenticationDeps, { presented, caller }: Call): Promise<Caller> {
  if (presented.kind === 'nothing') throw nothingSent()
  if (presented.kind === 'bearer') return ofToken(await verifyToken(deps.tokenCache, presented.accessToken))
  return ofPair(await authenticateKey(deps, presented, caller))
}

function ofToken(verdict: Verdict): Caller {
  if (!verdict.active) throw notActive(verdict)
  return { key: verdict.key, tokenScope: verdict.token.scope }
}

const ofPair = (key: CachedKey): Caller => ({ key, tokenScope: undefined })

function decide(deps: AuthenticationDeps, call: Call, caller: Caller): Allowed | undefined {
  const { key, tokenScope } = caller
  const rights = rightsOf(key, tokenScope)
  const isAllowedIp = key.allowsIp(call.caller.plain)
  if (isAllowedIp && !lackedBy(rights.scopes, call)) return allowed(deps, call, { key, rights })
  // The scope of a token never changes: nothing that the database knows of its key would help.
  if (isAllowedIp && tokenScope !== undefined && lackedBy(tokenScope.split(' '), call))
    throw faultOf(call, caller)!
  return undefined
}

/** Decides again with the key as the database has it: it may have been widened meanwhile, but also blocked. */
async function decideFromStore(deps: AuthenticationDeps, call: Call, { key }: Caller): Promise<Allowed> {
  await deps.tokenCache.loadKey(key.row.project_id, key.row.id)
  const caller = await findCaller(deps, call)
  const fault = faultOf(call, caller)
  if (fault) throw fault
  return allowed(deps, call, { key: caller.key, rights: rightsOf(caller.key, caller.tokenScope) })
}

function allowed(
  deps: AuthenticationDeps,
  call: Call,
  { key, rights }: { readonly key: CachedKey; readonly rights: Rights },
): Allowed {
  deps.lastUsed.record(key, call.caller.plain)
  return { key, scope: rights.text }
}

/** Clients ask for the same scopes again and again. */
const RIGHTS_KEPT = 50

function rightsOf({ rights, permissions }: CachedKey, tokenScope: string | undefined): Rights {
  const known = rights.get(tokenScope)
  if (known) return known
  const scopes = tokenScope === undefined ? permissions : inForce(tokenScope.split(' '), permissions)
  const found = { scopes, text: scopes.join(' ') }
  if (rights.size < RIGHTS_KEPT) rights.set(tokenScope, found)
  return found
}

/** What both the token and its key allow. Of `api` and `vouchers` that is `vouchers`, whichever of them has which. */
function inForce(held: readonly string[], permissions: readonly Scope[]): readonly string[] {
  const both = held.filter((scope) => covers(permissions, scope as Scope))
  if (both.length < held.length)
    both.push(...permissions.filter((scope) => !both.includes(scope) && covers(held, scope)))
  return both
}

const lackedBy = (held: readonly string[], { needed }: Call): Scope | undefined =>
  needed.find((scope) => !covers(held, scope))

/** The address first, then the scope; the pair's address has been checked with its secret. */
function faultOf(call: Call, { key, tokenScope }: Caller): Problem | undefined {
  if (!key.allowsIp(call.caller.plain))
    return addressRefused(
      key,
      call.caller.plain,
      tokenScope === undefined ? 'address_not_allowed' : 'bearer_address_not_allowed',
    )
  const byToken = tokenScope === undefined ? undefined : lackedBy(tokenScope.split(' '), call)
  if (byToken) return insufficient(key, call, byToken, `This token has: ${tokenScope}.`)
  const byKey = lackedBy(key.permissions, call)
  if (byKey) return insufficient(key, call, byKey, `Its API key is permitted: ${key.permissions.join(' ')}.`)
  return undefined
}

const nothingSent = (): Problem =>
  new Problem('unauthorized', {
    message: 'No credential was sent.',
    details: 'Send Authorization: Bearer <access_token>, or X-App-Id and X-App-Token.',
    refusal: { step: 'bearer_missing' },
  })

/** One and the same answer for unknown, expired, revoked, malformed, and tokens of a blocked or deleted key. */
const notActive = (verdict: Verdict & { active: false }): Problem =>
  new Problem('unauthorized', {
    message: 'The token is not active.',
    details: 'Ask for a new one at /v1/oauth/token.',
    oauth: 'invalid_token',
    refusal: verdict,
  })

function insufficient(key: CachedKey, { what }: Call, lacking: Scope, holds: string): Problem {
  const whole = wholeSideOf(lacking)
  const or = whole === lacking ? '' : ` or "${whole}"`
  return new Problem('insufficient_scope', {
    message: `${what} needs "${lacking}"${or}.`,
    details: holds,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${lacking}"` },
    refusal: { step: 'scope_insufficient', keyId: key.row.id, projectId: key.row.project_id },
  })
}
