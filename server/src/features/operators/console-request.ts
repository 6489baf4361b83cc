import type { FastifyRequest } from 'fastify'
import { Problem } from '../../contract/problem.ts'

type BrowserRequest = Pick<FastifyRequest, 'headers' | 'method' | 'routeOptions'>

const forbidden = (message: string, details: string): Problem =>
  new Problem('forbidden_origin', { message, details, refusal: { step: 'session_origin' } })

export const signInElsewhere = (): Problem =>
  forbidden(
    'A browser can sign in over https, or at localhost, 127.0.0.1 and [::1], and not at this address.',
    'Behind a proxy that terminates TLS: name it in JETON_TRUSTED_PROXIES and let it send X-Forwarded-Proto: https. Without one: ssh -L 8080:127.0.0.1:8080 <host>, and open http://localhost:8080.',
  )

const notFromConsole = (): Problem =>
  forbidden(
    'A request with a session must come from a page of this service.',
    'Send X-Jeton-Console: 1, and for anything but GET also Sec-Fetch-Site: same-origin, as browsers do. Programs use X-Management-Id and X-Management-Token instead.',
  )

export const isPolling = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers['x-jeton-console'] === 'poll'

/** `/docs`, `/openapi.json` and `/metrics`: read-only pages that a browser opens by itself, without our header. */
const isPage = ({ routeOptions }: BrowserRequest): boolean =>
  routeOptions.url?.startsWith('/management/') === false

/**
 * Refuses a request that another site may have caused. A page of another origin cannot send `X-Jeton-Console` without a
 * preflight, which is never granted, and no page can change `Sec-Fetch-Site`. Another port of the same host is `same-site`.
 */
export function requireConsoleRequest(request: BrowserRequest): void {
  const { method, headers } = request
  const site = headers['sec-fetch-site']
  const marked = headers['x-jeton-console'] === '1' || (method === 'GET' && isPolling(request))
  const isOpened = isPage(request) && (site === 'same-origin' || site === 'none')
  if (method === 'GET' && isOpened) return
  const isSameOrigin = site === 'same-origin' || (method === 'GET' && site === undefined)
  if (!marked || !isSameOrigin) throw notFromConsole()
}
