import type { Problem } from '../../contract/problem.ts'
import { normalizeIp } from '../../platform/addresses.ts'
import { errorResponse, pathOf } from '../../platform/http/index.ts'
import { type CachedKey, ipNotAllowed, keyBlocked, keyNotAccepted } from '../tokens/index.ts'
import { effectiveScopesOf, notActive, scopeRefusalFor } from './authorize-call.ts'
import type { PathVerdict } from './call-path.ts'
import { callText, pathRefused } from './gateway-request.ts'

/** The credential of a checked call. The key of a token is undefined if the token is not active. */
export type Holder =
  | { readonly kind: 'token'; readonly key: CachedKey | undefined; readonly scope: string }
  | { readonly kind: 'key'; readonly key: CachedKey | undefined }

export interface CheckedCall {
  readonly path: string
  readonly address?: string | undefined
  readonly verdict: PathVerdict
  readonly holder: Holder
}

export interface PredictedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: object | null
}

/** The response of the gateway to the call, in the order of its checks. An address that is not named is not checked. */
export function predictResponse(call: CheckedCall, publicUrl: string): PredictedResponse {
  const refusal = refusalFor(call)
  if (!refusal) return allowed(call.holder)
  const authorization = call.holder.kind === 'token' ? 'Bearer' : ''
  const request = { id: '', headers: { authorization: `${authorization} ` } }
  const { status, headers, text } = errorResponse(refusal, request, { publicUrl })
  const { request_id: _, ...body } = JSON.parse(text)
  return { status, headers, body }
}

function refusalFor({ path, address, verdict, holder }: CheckedCall): Problem | undefined {
  if (!verdict.ok) return pathRefused(verdict.says)
  const { key } = holder
  if (!key) return holder.kind === 'token' ? notActive(UNRECORDED) : keyNotAccepted(UNRECORDED.step)
  if (key.row.state === 'deleted') return keyNotAccepted(UNRECORDED.step)
  if (key.row.state === 'blocked') return keyBlocked(key)
  const client = address === undefined ? undefined : normalizeIp(address)
  if (client !== undefined && !key.allowsIp(client)) return ipNotAllowed(key, client)
  const asked = { needed: [verdict.needed], what: callText(pathOf(path)) }
  return scopeRefusalFor(asked, { key, tokenScope: scopeOf(holder) })
}

/** A check is no refusal, so its step is not recorded. */
const UNRECORDED = { step: 'check' }

const scopeOf = (holder: Holder): string | undefined => (holder.kind === 'token' ? holder.scope : undefined)

function allowed(holder: Holder): PredictedResponse {
  const key = holder.key!
  const headers = {
    'x-jeton-project-id': key.row.project_id,
    'x-jeton-client-id': key.row.client_id,
    'x-jeton-key-id': key.row.id,
    'x-jeton-scope': effectiveScopesOf(key, scopeOf(holder)).text,
  }
  return { status: 200, headers, body: null }
}
