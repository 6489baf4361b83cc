import { Problem } from '../../contract/problem.ts'
import type { ApiRequest, Form } from '../../platform/http/index.ts'
import {
  type AuthenticationDeps,
  addressRefused,
  authenticateKey,
  notAccepted,
  tryAuthenticateKey,
} from './authenticate-key.ts'
import type { CachedKey } from './cached-key.ts'
import { presentedCredential } from './client-credentials.ts'
import { addressIn, tokenIn } from './oauth-form.ts'
import { tryVerifyToken, type Verdict, verifyToken } from './verify-token.ts'

const INACTIVE: Verdict = { active: false, step: 'bearer_inactive' }

/** The verdict if the cache can give it: the caller sent a key pair, and both its key and the token are cached. */
export function tryIntrospectToken(
  deps: AuthenticationDeps,
  request: ApiRequest,
  form: Form,
): Verdict | undefined {
  const presented = presentedCredential(request, form)
  if (presented.kind !== 'pair' || form.has('ip_address')) return undefined
  const caller = tryAuthenticateKey(deps, presented, request.caller)
  if (!caller) return undefined
  recordCaller(deps, request, caller)
  return tryVerifyToken(deps.tokenCache, tokenIn(form), caller.row.project_id)
}

/** The verdict for a caller with a key pair or a bearer token, from the database where necessary. */
export async function introspectToken(
  deps: AuthenticationDeps,
  request: ApiRequest,
  form: Form,
): Promise<Verdict> {
  const presented = presentedCredential(request, form)
  if (presented.kind === 'nothing') throw notAccepted('credential_missing')
  if (presented.kind === 'bearer') return introspectAsBearer(deps, request, form, presented.accessToken)
  const caller = await authenticateKey(deps, presented, request.caller)
  recordCaller(deps, request, caller)
  return verifyIn(deps, form, caller.row.project_id)
}

function recordCaller({ lastUsed }: AuthenticationDeps, request: ApiRequest, caller: CachedKey): void {
  lastUsed.record(caller, request.caller.plain)
  request.logNote = caller.row.name
}

/**
 * A token of another project is inactive, like one that does not exist. A resource server may name its caller's address:
 * outside the whitelist the token is inactive for it.
 */
async function verifyIn(deps: AuthenticationDeps, form: Form, projectId: string): Promise<Verdict> {
  const accessToken = tokenIn(form)
  const address = addressIn(form)
  const verdict = await verifyToken(deps.tokenCache, accessToken, projectId)
  if (address === undefined || !verdict.active) return verdict
  return (await allowsIp(deps, verdict.key, address)) ? verdict : INACTIVE
}

/** No request is refused for what the cache says of a whitelist: the database is asked first. */
async function allowsIp(
  { tokenCache }: AuthenticationDeps,
  key: CachedKey,
  address: string | null,
): Promise<boolean> {
  if (key.allowsIp(address)) return true
  return (await tokenCache.loadKey(key.row.project_id, key.row.id))?.allowsIp(address) === true
}

async function introspectAsBearer(
  deps: AuthenticationDeps,
  request: ApiRequest,
  form: Form,
  accessToken: string,
): Promise<Verdict> {
  const own = await bearerVerdict(deps, request, accessToken)
  // RFC 7662 §2.1: the caller must be authorized; every token may ask about itself.
  if (accessToken !== tokenIn(form) && !(await mayAskAboutOthers(deps, own))) throw mayOnlyAskAboutItself(own)
  return verifyIn(deps, form, own.key.row.project_id)
}

/** By its scope and by what its key is permitted at this moment. The database is asked before the latter refuses it. */
async function mayAskAboutOthers(
  { tokenCache }: AuthenticationDeps,
  { token, key }: Verdict & { active: true },
): Promise<boolean> {
  if (!token.scope.split(' ').includes('api')) return false
  if (key.permissions.includes('api')) return true
  const fresh = await tokenCache.loadKey(key.row.project_id, key.row.id)
  return fresh?.permissions.includes('api') === true
}

async function bearerVerdict(
  deps: AuthenticationDeps,
  request: ApiRequest,
  accessToken: string,
): Promise<Verdict & { active: true }> {
  const verdict = await verifyToken(deps.tokenCache, accessToken)
  if (!verdict.active)
    throw new Problem('unauthorized', {
      message: 'The token is not active.',
      details: 'Ask for a new one at /v1/oauth/token.',
      oauth: 'invalid_token',
      refusal: verdict,
    })
  if (!(await allowsIp(deps, verdict.key, request.caller.plain)))
    throw addressRefused(verdict.key, request.caller.plain, 'bearer_address_not_allowed')
  deps.lastUsed.record(verdict.key, request.caller.plain)
  return verdict
}

const mayOnlyAskAboutItself = ({ token, key }: Verdict & { active: true }): Problem =>
  new Problem('insufficient_scope', {
    message: 'This token may ask about itself; asking about others needs "api".',
    details: `It has: ${token.scope}.`,
    headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="api"' },
    refusal: { step: 'scope_insufficient', keyId: key.row.id, projectId: key.row.project_id },
  })
