import type { Fetch } from './send-request.ts'
import type { AccessToken } from './tokens/access-token.ts'
import type { TokenSource } from './tokens/token-source.ts'

export interface FetchOptions {
  /** Address of the API. Relative URLs start here. The token is never sent to another origin. */
  readonly baseUrl: string | URL
  readonly fetch?: Fetch
}

/** Methods that may be sent twice. A POST may have an effect each time. */
const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

const isStream = (body: unknown): boolean =>
  typeof ReadableStream === 'function' && body instanceof ReadableStream

/** `error="invalid_token"` of RFC 6750: the API does not accept the token, so a new one may help. */
const isTokenRefused = ({ status, headers }: Response): boolean =>
  status === 401 && /\berror="?invalid_token\b/.test(headers.get('www-authenticate') ?? '')

function requireOrigin(input: string | URL | Request, baseUrl: URL): URL {
  const url = new URL(input instanceof Request ? input.url : input, baseUrl)
  if (url.origin === baseUrl.origin) return url
  throw new TypeError(`The token is for ${baseUrl.origin} and must not be sent to ${url.origin}.`)
}

/**
 * Returns `fetch` with a bearer token. If the API answers that the token is not valid, the request is repeated once with a
 * new token, except for a POST, a PATCH or a body that can be read only once. Redirects are not followed unless the caller
 * asks for it.
 */
export function createFetch(source: TokenSource, { baseUrl, fetch }: FetchOptions): Fetch {
  const base = new URL(baseUrl)
  const send = fetch ?? globalThis.fetch
  /** New tokens that were refused at once. Another new one would not help, and every one counts towards the limit. */
  const refusedWhenNew = new WeakSet<AccessToken>()

  async function call(
    input: string | URL | Request,
    init: RequestInit,
    token: AccessToken,
  ): Promise<Response> {
    const url = requireOrigin(input, base)
    const headers = new Headers(init.headers ?? (input instanceof Request ? input.headers : undefined))
    headers.set('authorization', `Bearer ${token.value}`)
    const target = input instanceof Request ? input : url
    return send(target, { redirect: 'manual', ...init, headers })
  }

  return async (input, init = {}) => {
    requireOrigin(input, base)
    const token = await source.get({ ...(init.signal && { signal: init.signal }) })
    const response = await call(input, init, token)
    if (!isTokenRefused(response)) refusedWhenNew.delete(token)
    if (!isTokenRefused(response) || refusedWhenNew.has(token)) return response
    source.forget(token)
    const method = (init.method ?? (input instanceof Request ? input.method : 'GET')).toUpperCase()
    const hasOnceBody = isStream(init.body) || (input instanceof Request && input.body !== null)
    if (!REPEATABLE.has(method) || hasOnceBody) return response
    await response.body?.cancel()
    const next = await source.get({ ...(init.signal && { signal: init.signal }) })
    const again = await call(input, init, next)
    if (isTokenRefused(again)) refusedWhenNew.add(next)
    return again
  }
}
