import { Problem } from '../../contract/problem.ts'
import type { ApiRequest, Form } from '../../platform/http/index.ts'
import { type AuthenticationDeps, addressRefused, authenticateKey, notAccepted } from './authenticate-key.ts'
import { type Presented, presentedCredential } from './client-credentials.ts'
import type { KnownKey } from './known-key.ts'
import { addressIn, tokenIn } from './oauth-form.ts'
import { type Verdict, verdictOf } from './verdict.ts'

const INACTIVE: Verdict = { active: false, step: 'bearer_inactive' }

/**
 * What introspection answers. The hot path, a key pair that asks about a token in memory, runs through without a
 * promise; whatever needs the store, or comes with a bearer token, goes the long way.
 */
export function introspectToken(
  deps: AuthenticationDeps,
  request: ApiRequest,
  form: Form,
): Verdict | Promise<Verdict> {
  const presented = presentedCredential(request, form)
  if (presented.kind !== 'pair') return theLongWay(deps, request, form, presented)
  const key = authenticateKey(deps, presented, request.caller)
  if (key instanceof Promise) return key.then((proved) => askedBy(deps, request, form, proved))
  return askedBy(deps, request, form, key)
}

function askedBy(
  deps: AuthenticationDeps,
  request: ApiRequest,
  form: Form,
  caller: KnownKey,
): Verdict | Promise<Verdict> {
  deps.uses.note(caller)
  request.logNote = caller.row.name
  return askedIn(deps, form, caller.row.project_id)
}

/** A token of another project is inactive, like one that does not exist. */
function askedIn(deps: AuthenticationDeps, form: Form, projectId: string): Verdict | Promise<Verdict> {
  const accessToken = tokenIn(form)
  const address = addressIn(form)
  const verdict = verdictOf(deps.memory, accessToken, projectId)
  return address === undefined ? verdict : seenFrom(deps, verdict, address)
}

/** For a resource server that names its caller's address: outside the whitelist the token is inactive for it. */
async function seenFrom(
  deps: AuthenticationDeps,
  asked: Verdict | Promise<Verdict>,
  address: string,
): Promise<Verdict> {
  const verdict = await asked
  return verdict.active && !(await admits(deps, verdict.key, address)) ? INACTIVE : verdict
}

/** Before anyone is refused for what memory says of a whitelist, the store is asked. */
async function admits(
  { memory }: AuthenticationDeps,
  key: KnownKey,
  address: string | null,
): Promise<boolean> {
  if (key.admits(address)) return true
  return (await memory.freshKey(key.row.project_id, key.row.id))?.admits(address) === true
}

async function theLongWay(
  deps: AuthenticationDeps,
  request: ApiRequest,
  form: Form,
  presented: Presented,
): Promise<Verdict> {
  if (presented.kind !== 'bearer') throw notAccepted('credential_missing')
  const own = await bearerVerdict(deps, request, presented.accessToken)
  // RFC 7662 §2.1: whoever asks must be entitled; anyone may ask about itself.
  if (presented.accessToken !== tokenIn(form) && !(await mayAskAboutOthers(deps, own)))
    throw mayOnlyAskAboutItself(own)
  return askedIn(deps, form, own.key.row.project_id)
}

/** By its scope and by what its key is permitted at this moment; before it is refused for the latter, the store is asked. */
async function mayAskAboutOthers(
  { memory }: AuthenticationDeps,
  { token, key }: Verdict & { active: true },
): Promise<boolean> {
  if (!token.scope.split(' ').includes('api')) return false
  if (key.permissions.includes('api')) return true
  const fresh = await memory.freshKey(key.row.project_id, key.row.id)
  return fresh?.permissions.includes('api') === true
}

async function bearerVerdict(
  deps: AuthenticationDeps,
  request: ApiRequest,
  accessToken: string,
): Promise<Verdict & { active: true }> {
  const verdict = await verdictOf(deps.memory, accessToken)
  if (!verdict.active)
    throw new Problem('unauthorized', {
      message: 'The token is not active.',
      details: 'Ask for a new one at /v1/oauth/token.',
      oauth: 'invalid_token',
      refusal: verdict,
    })
  if (!(await admits(deps, verdict.key, request.caller.plain)))
    throw addressRefused(verdict.key, request.caller.plain, 'bearer_address_not_allowed')
  deps.uses.note(verdict.key)
  return verdict
}

const mayOnlyAskAboutItself = ({ token, key }: Verdict & { active: true }): Problem =>
  new Problem('insufficient_scope', {
    message: 'This token may ask about itself; asking about others needs "api".',
    details: `It has: ${token.scope}.`,
    headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="api"' },
    refusal: { step: 'scope_insufficient', keyId: key.row.id, projectId: key.row.project_id },
  })
