import { Problem } from '../../contract/problem.ts'
import type { ApiRequest, Form } from '../../platform/http/index.ts'
import {
  type AuthenticationDeps,
  authenticateKey,
  ipNotAllowed,
  keyNotAccepted,
  tryAuthenticateKey,
} from './authenticate-key.ts'
import type { CachedKey } from './cached-key.ts'
import { readCredential } from './client-credentials.ts'
import { readIpParameter, readTokenParameter } from './oauth-form.ts'
import { tryVerifyToken, type Verdict, verifyToken } from './verify-token.ts'

const INACTIVE: Verdict = { active: false, step: 'bearer_inactive' }

/** Returns the verdict if the caller sent a key pair, and both its key and the token are cached. */
export function tryIntrospectToken(
  deps: AuthenticationDeps,
  request: ApiRequest,
  form: Form,
): Verdict | undefined {
  const credential = readCredential(request, form)
  if (credential.kind !== 'key' || form.has('ip_address')) return undefined
  const caller = tryAuthenticateKey(deps, credential, request.caller)
  if (!caller) return undefined
  recordCaller(deps, request, caller)
  const verdict = tryVerifyToken(deps.tokenCache, readTokenParameter(form), caller.row.project_id)
  if (verdict) countIntrospection(deps, caller, verdict)
  return verdict
}

/** Returns the verdict for a caller with a key pair or a bearer token, and reads the database if necessary. */
export async function introspectToken(
  deps: AuthenticationDeps,
  request: ApiRequest,
  form: Form,
): Promise<Verdict> {
  const credential = readCredential(request, form)
  if (credential.kind === 'none') throw keyNotAccepted('credential_missing')
  if (credential.kind === 'bearer') return introspectAsBearer(deps, request, form, credential.accessToken)
  const caller = await authenticateKey(deps, credential, request.caller)
  recordCaller(deps, request, caller)
  return verifyFor(deps, form, caller)
}

const countIntrospection = ({ usage }: AuthenticationDeps, { row }: CachedKey, { active }: Verdict): void =>
  usage.introspection(row.project_id, row.id, active)

async function verifyFor(deps: AuthenticationDeps, form: Form, caller: CachedKey): Promise<Verdict> {
  const verdict = await verifyInProject(deps, form, caller.row.project_id)
  countIntrospection(deps, caller, verdict)
  return verdict
}

function recordCaller({ lastUsed }: AuthenticationDeps, request: ApiRequest, caller: CachedKey): void {
  lastUsed.record(caller, request.caller.ip)
  request.logNote = caller.row.name
}

/**
 * Returns inactive for a token of another project, like for an unknown one. A resource server may send the address of its
 * client: the token is inactive for an address outside the allowlist.
 */
async function verifyInProject(deps: AuthenticationDeps, form: Form, projectId: string): Promise<Verdict> {
  const accessToken = readTokenParameter(form)
  const address = readIpParameter(form)
  const verdict = await verifyToken(deps.tokenCache, accessToken, projectId)
  if (address === undefined || !verdict.active) return verdict
  return (await allowsIp(deps, verdict.key, address)) ? verdict : INACTIVE
}

/** Reads the database before it refuses an address, because the cached allowlist may be outdated. */
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
  // RFC 7662 §2.1 requires an authorized caller. Every token may introspect itself.
  if (accessToken !== readTokenParameter(form) && !(await canIntrospectOthers(deps, own)))
    throw selfIntrospectionOnly(own)
  return verifyFor(deps, form, own.key)
}

/** Requires `api` in the scope of the token and in the permissions of its key. Reads the database before refusing by key. */
async function canIntrospectOthers(
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
      details: 'Request a new token at /v1/oauth/token.',
      oauth: 'invalid_token',
      refusal: verdict,
    })
  if (!(await allowsIp(deps, verdict.key, request.caller.ip)))
    throw ipNotAllowed(verdict.key, request.caller.ip, 'bearer_address_not_allowed')
  deps.lastUsed.record(verdict.key, request.caller.ip)
  return verdict
}

const selfIntrospectionOnly = ({ token, key }: Verdict & { active: true }): Problem =>
  new Problem('insufficient_scope', {
    message: 'This token can only introspect itself. Introspecting other tokens requires "api".',
    details: `It has: ${token.scope}.`,
    headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="api"' },
    refusal: {
      step: 'scope_insufficient',
      keyId: key.row.id,
      projectId: key.row.project_id,
      requiredScope: 'api',
    },
  })
