import { Problem } from '../../contract/problem.ts'
import { covers, type Scope, wholeSideOf } from '../../contract/scopes.ts'
import type { ClientAddress } from '../../platform/http/index.ts'
import {
  type AuthenticationDeps,
  addressRefused,
  authenticateKey,
  type KnownKey,
  type Presented,
  type Rights,
  type Verdict,
  verdictOf,
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
  readonly key: KnownKey
  /** What the caller may do now: of the token's scope what its key is still permitted, or the permissions of the key. */
  readonly scope: string
}

/** Who calls: a key, by its pair or by a token of it. */
interface Holder {
  readonly key: KnownKey
  readonly tokenScope: string | undefined
}

/**
 * Whether a call may be made: who (bearer or pair), from where (whitelist of the key), what (scope of the token and
 * present permissions of the key). Answers from memory without a promise; before anyone is refused for what memory
 * says of a key, the store is asked. Refusals are thrown.
 */
export function authorizeCall(deps: AuthenticationDeps, call: Call): Allowed | Promise<Allowed> {
  const holder = holderOf(deps, call)
  return holder instanceof Promise
    ? holder.then((late) => decide(deps, call, late))
    : decide(deps, call, holder)
}

function holderOf(deps: AuthenticationDeps, { presented, caller }: Call): Holder | Promise<Holder> {
  if (presented.kind === 'nothing') throw nothingSent()
  if (presented.kind === 'bearer') {
    const verdict = verdictOf(deps.memory, presented.accessToken)
    return verdict instanceof Promise ? verdict.then(ofToken) : ofToken(verdict)
  }
  const key = authenticateKey(deps, presented, caller)
  return key instanceof Promise ? key.then(ofPair) : ofPair(key)
}

function ofToken(verdict: Verdict): Holder {
  if (!verdict.active) throw notActive(verdict)
  return { key: verdict.key, tokenScope: verdict.token.scope }
}

const ofPair = (key: KnownKey): Holder => ({ key, tokenScope: undefined })

function decide(deps: AuthenticationDeps, call: Call, holder: Holder): Allowed | Promise<Allowed> {
  const { key, tokenScope } = holder
  const rights = rightsOf(key, tokenScope)
  const isAdmitted = key.admits(call.caller.plain)
  if (isAdmitted && !lackedBy(rights.scopes, call)) return allowed(deps, key, rights)
  // The scope of a token never changes: nothing that the store could say of its key would help.
  if (isAdmitted && tokenScope !== undefined && lackedBy(tokenScope.split(' '), call))
    throw faultOf(call, holder)!
  return decideAfresh(deps, call, holder)
}

/** From the beginning, with the key as the store has it: it may have been widened meanwhile, but also blocked. */
async function decideAfresh(deps: AuthenticationDeps, call: Call, { key }: Holder): Promise<Allowed> {
  await deps.memory.freshKey(key.row.project_id, key.row.id)
  const holder = await holderOf(deps, call)
  const fault = faultOf(call, holder)
  if (fault) throw fault
  return allowed(deps, holder.key, rightsOf(holder.key, holder.tokenScope))
}

function allowed(deps: AuthenticationDeps, key: KnownKey, { text: scope }: Rights): Allowed {
  deps.uses.note(key)
  return { key, scope }
}

/** Clients ask for the same scopes again and again. */
const RIGHTS_KEPT = 50

function rightsOf({ rights, permissions }: KnownKey, tokenScope: string | undefined): Rights {
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
function faultOf(call: Call, { key, tokenScope }: Holder): Problem | undefined {
  if (!key.admits(call.caller.plain))
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

function insufficient(key: KnownKey, { what }: Call, lacking: Scope, holds: string): Problem {
  const whole = wholeSideOf(lacking)
  const or = whole === lacking ? '' : ` or "${whole}"`
  return new Problem('insufficient_scope', {
    message: `${what} needs "${lacking}"${or}.`,
    details: holds,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${lacking}"` },
    refusal: { step: 'scope_insufficient', keyId: key.row.id, projectId: key.row.project_id },
  })
}
