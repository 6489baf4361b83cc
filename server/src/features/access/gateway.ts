import { Problem } from '../../contract/problem.ts'
import { isScope, type Scope } from '../../contract/scopes.ts'
import { pathOf, type RawRequest } from '../../platform/http/index.ts'
import { judgePath } from './call-path.ts'

export const GATEWAY = '/gateway/authorize'

/** What is asked: the scopes that the call needs, and the call as people would write it. */
export interface Question {
  readonly needed: readonly Scope[]
  readonly what: string
}

const refuse = (message: string, details: string): Problem =>
  new Problem('insufficient_scope', { message, details, refusal: { step: 'gateway_path' } })

/** Headers that name the call; a proxy sends one of them. */
const SOURCES = ['x-original-uri', 'x-forwarded-uri'] as const

/** How often a header was sent: Node joins what was sent twice, and a caller may have slipped one in. */
function timesSent(raw: RawRequest, name: string): number {
  let count = 0
  for (let i = 0; i < raw.rawHeaders.length; i += 2) {
    const sent = raw.rawHeaders[i]!
    if (sent.length === name.length && sent.toLowerCase() === name) count++
  }
  return count
}

function pathsNamed(raw: RawRequest): string[] {
  const paths: string[] = []
  for (const name of SOURCES) {
    const value = raw.headers[name]
    if (value === undefined) continue
    if (timesSent(raw, name) > 1)
      throw refuse(`${name} was sent more than once.`, 'The proxy must replace what its caller sends.')
    paths.push(pathOf(String(value)))
  }
  const rest = pathOf(raw.url!).slice(GATEWAY.length)
  if (rest !== '') paths.push(rest)
  return paths
}

/**
 * The question of a proxy. Every source of the path that is present must agree with the others; `?scope=` counts only
 * where there is none, and then alone decides.
 */
export function questionOf(raw: RawRequest): Question {
  const paths = pathsNamed(raw)
  if (paths.length === 0) return scopeAsked(raw.url!)
  const path = paths[0]!
  if (paths.some((other) => other !== path))
    throw refuse(
      'The proxy and its caller name different paths.',
      'The proxy must replace X-Original-URI and X-Forwarded-Uri.',
    )
  const verdict = judgePath(path)
  if (!verdict.ok)
    throw refuse(
      `This call is refused: ${verdict.says}.`,
      'Only plain paths below /v1 and /client/v1 are let through.',
    )
  return {
    needed: [verdict.needed],
    what: `${raw.headers['x-forwarded-method'] ?? raw.headers['x-original-method'] ?? 'The call to'} ${path.slice(0, 200)}`,
  }
}

function scopeAsked(url: string): Question {
  const query = url.indexOf('?')
  const asked = new URLSearchParams(query < 0 ? '' : url.slice(query)).getAll('scope')
  const scopes = asked.length === 1 ? asked[0]!.split(' ') : []
  if (scopes.length === 0 || !scopes.every(isScope))
    throw refuse(
      'The proxy named no path and no scope.',
      'Send X-Original-URI or X-Forwarded-Uri, append the path, or ask with ?scope=<scope>.',
    )
  return { needed: scopes as Scope[], what: 'This call' }
}

/** A path that cannot even be decoded never reaches a handler; a proxy must hear 403 all the same, not 400. */
export const badGatewayUrl = (url: string): Problem | undefined =>
  url.startsWith(GATEWAY)
    ? refuse(
        'This call is refused: the path has bad percent-encoding.',
        'Only plain paths below /v1 and /client/v1 are let through.',
      )
    : undefined
