import { JetonError, JetonUnavailable } from './errors.ts'

export type Fetch = typeof globalThis.fetch

/** A request to Jeton itself. */
export interface JetonRequest {
  readonly baseUrl: string | URL
  /** Path and query below the base URL. */
  readonly path: string
  readonly init: RequestInit
  readonly timeoutMs: number
  readonly fetch?: Fetch | undefined
}

/** Sends a request and returns the answer, or throws JetonUnavailable if there is none in time. Redirects are not followed. */
export async function sendRequest({
  baseUrl,
  path,
  init,
  timeoutMs,
  fetch,
}: JetonRequest): Promise<Response> {
  const url = String(baseUrl).replace(/\/+$/, '') + path
  const send = fetch ?? globalThis.fetch
  // A credential with a line break is a mistake of the caller and not an outage.
  const headers = new Headers(init.headers)
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    // Frameworks that cache `fetch` must not: an answer is about this moment.
    return await send(url, { redirect: 'manual', cache: 'no-store', signal, ...init, headers })
  } catch (cause) {
    throw new JetonUnavailable(`Jeton did not answer at ${new URL(url).origin}.`, { cause })
  }
}

/** Reads the JSON of an answer, or throws the error that it carries. */
export async function readJson(response: Response): Promise<unknown> {
  const body = await bodyOf(response)
  if (response.ok && body !== undefined) return body
  throw errorOf(response, body)
}

/** Undefined if the body does not arrive or is not JSON. */
export const bodyOf = (response: Response): Promise<unknown> => response.json().catch(() => undefined)

/** The error of an answer. Only an answer with the body of a Jeton error is a refusal: a proxy may have sent any other. */
export function errorOf(response: Response, body: unknown): JetonError | JetonUnavailable {
  const { status, headers } = response
  const requestId = headers.get('x-request-id') ?? undefined
  const retryAfterMs = retryAfterOf(headers)
  const { key, message, details, doc_url: docUrl } = (body ?? {}) as Record<string, string | undefined>
  if (status >= 400 && status < 500 && typeof key === 'string')
    return new JetonError({ key, status, message: String(message), details, requestId, docUrl, retryAfterMs })
  const reason = typeof message === 'string' ? `: ${message}` : '.'
  return new JetonUnavailable(`Jeton answered ${status}${reason}`, { requestId, retryAfterMs })
}

/** Jeton sends whole seconds. */
function retryAfterOf(headers: Headers): number | undefined {
  const seconds = headers.get('retry-after')
  return seconds !== null && /^\d{1,7}$/.test(seconds) ? Number(seconds) * 1000 : undefined
}
