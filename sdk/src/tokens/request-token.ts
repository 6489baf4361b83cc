import { JetonUnavailable } from '../errors.ts'
import type { Scope } from '../generated/scopes.ts'
import { bodyOf, errorOf, type Fetch, readJson, sendRequest } from '../send-request.ts'
import { isToken, type TokenFields } from './access-token.ts'

/** App id and app token of an API key. */
export interface KeyPair {
  readonly appId: string
  readonly appToken: string
}

export interface TokenEndpoint {
  readonly baseUrl: string | URL
  readonly timeoutMs: number
  readonly fetch?: Fetch | undefined
}

const formOf = (pair: KeyPair, fields: Record<string, string>): RequestInit => ({
  method: 'POST',
  headers: { 'x-app-id': pair.appId, 'x-app-token': pair.appToken },
  body: new URLSearchParams(fields),
})

export async function requestToken(
  endpoint: TokenEndpoint,
  pair: KeyPair,
  scope: readonly Scope[],
): Promise<TokenFields> {
  const init = formOf(pair, { grant_type: 'client_credentials', scope: scope.join(' ') })
  const answer = await readJson(await sendRequest({ ...endpoint, path: '/v1/oauth/token', init }))
  if (!isToken(answer)) throw new JetonUnavailable('The answer of the token endpoint is not a token.')
  return answer
}

/** Ends a token, so that it no longer counts towards the limit of its project. */
export async function revokeToken(endpoint: TokenEndpoint, pair: KeyPair, token: string): Promise<void> {
  const init = formOf(pair, { token })
  const response = await sendRequest({ ...endpoint, path: '/v1/oauth/revoke', init })
  const body = await bodyOf(response)
  if (!response.ok) throw errorOf(response, body)
}
