import type { FastifyRequest } from 'fastify'
import { Problem } from '../../contract/problem.ts'
import { addressMatcher } from '../../platform/addresses.ts'

type BrowserRequest = Pick<FastifyRequest, 'headers' | 'caller'>

interface Cookie {
  readonly name: string
  readonly isSecure: boolean
}

/** The only hosts that browsers trust without TLS, and that no name server can redirect. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?$/i

const valuesOf = (header: string, name: string): string[] =>
  header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))

export interface SessionCookies {
  /** The cookie that counts for this request; undefined where a browser may not sign in. */
  of(request: BrowserRequest): Cookie | undefined
  /** Its value. Throws if it was sent twice: the second one was planted by another path or subdomain. */
  read(request: BrowserRequest): string | undefined
  /** The header that sets the cookie, or removes it if the value is empty. */
  header(cookie: Cookie, value: string): string
}

/**
 * Over https, as a trusted proxy reports it, the prefix `__Host-` keeps other hosts and plain http from setting the
 * cookie. On loopback there is no https, and cookies ignore ports, so the name carries the port.
 */
export function createSessionCookies(trustedProxies: readonly string[]): SessionCookies {
  const isTrusted = addressMatcher(trustedProxies)

  function isHttps({ headers, caller }: BrowserRequest): boolean {
    const forwarded = headers['x-forwarded-proto']
    if (typeof forwarded !== 'string' || !isTrusted(caller.socket)) return false
    // Several proxies make a list: every one of them must have seen https.
    return forwarded.split(',').every((scheme) => scheme.trim().toLowerCase() === 'https')
  }

  function of(request: BrowserRequest): Cookie | undefined {
    if (isHttps(request)) return { name: '__Host-jeton_session', isSecure: true }
    const loopback = LOOPBACK.exec(request.headers.host ?? '')
    return loopback ? { name: `jeton_session_${loopback[1] ?? 80}`, isSecure: false } : undefined
  }

  return {
    of,
    read(request) {
      const cookie = of(request)
      if (!cookie || request.headers.cookie === undefined) return undefined
      const [value, ...others] = valuesOf(request.headers.cookie, cookie.name)
      if (others.length > 0)
        throw new Problem('conflicting_credentials', {
          message: 'The session cookie was sent more than once.',
          details: 'Delete the cookies of this site and sign in again.',
        })
      return value
    },
    header({ name, isSecure }, value) {
      const end = value === '' ? '; Max-Age=0' : ''
      return `${name}=${value}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}${end}`
    },
  }
}
