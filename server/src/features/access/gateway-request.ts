import { Problem } from '../../contract/problem.ts'
import { isScope, type Scope } from '../../contract/scopes.ts'
import { pathOf, type RawRequest } from '../../platform/http/index.ts'
import { requiredScopeOf } from './call-path.ts'

export const GATEWAY = '/gateway/authorize'

/** Required scopes of a call, and its description for messages. */
export interface GatewayRequest {
  readonly needed: readonly Scope[]
  readonly what: string
}

const refuse = (message: string, details: string): Problem =>
  new Problem('insufficient_scope', { message, details, refusal: { step: 'gateway_path' } })

/** Headers that carry the path. A proxy sends one of them. */
const SOURCES = ['x-original-uri', 'x-forwarded-uri'] as const

/** Counts how often a header was sent: Node joins repeated headers, and a client may have added one. */
function countHeader(raw: RawRequest, name: string): number {
  let count = 0
  for (let i = 0; i < raw.rawHeaders.length; i += 2) {
    const sent = raw.rawHeaders[i]!
    if (sent.length === name.length && sent.toLowerCase() === name) count++
  }
  return count
}

function requestedPaths(raw: RawRequest): string[] {
  const paths: string[] = []
  for (const name of SOURCES) {
    const value = raw.headers[name]
    if (value === undefined) continue
    if (countHeader(raw, name) > 1)
      throw refuse(
        `${name} was sent more than once.`,
        'The proxy must replace the header that its client sends.',
      )
    paths.push(pathOf(String(value)))
  }
  const rest = pathOf(raw.url!).slice(GATEWAY.length)
  if (rest !== '') paths.push(rest)
  return paths
}

/**
 * Reads the path or scopes from the request of a proxy. If several sources of the path are present, they must be equal.
 * `?scope=` is used only if there is no path.
 */
export function parseGatewayRequest(raw: RawRequest): GatewayRequest {
  const paths = requestedPaths(raw)
  if (paths.length === 0) return requestedScopes(raw.url!)
  const path = paths[0]!
  if (paths.some((other) => other !== path))
    throw refuse(
      'The proxy and its client sent different paths.',
      'The proxy must replace X-Original-URI and X-Forwarded-Uri.',
    )
  const verdict = requiredScopeOf(path)
  if (!verdict.ok) throw pathRefused(verdict.says)
  const method = raw.headers['x-forwarded-method'] ?? raw.headers['x-original-method']
  return { needed: [verdict.needed], what: callText(path, method) }
}

/** Names a call in messages. A proxy may send its method. */
export const callText = (path: string, method: string | string[] = 'The call to'): string =>
  `${method} ${path.slice(0, 200)}`

export const pathRefused = (says: string): Problem =>
  refuse(`This call is refused: ${says}.`, 'Only plain paths below /v1 and /client/v1 are allowed.')

function requestedScopes(url: string): GatewayRequest {
  const query = url.indexOf('?')
  const asked = new URLSearchParams(query < 0 ? '' : url.slice(query)).getAll('scope')
  const scopes = asked.length === 1 ? asked[0]!.split(' ') : []
  if (scopes.length === 0 || !scopes.every(isScope))
    throw refuse(
      'The proxy sent no path and no scope.',
      'Send X-Original-URI or X-Forwarded-Uri, append the path, or send ?scope=<scope>.',
    )
  return { needed: scopes as Scope[], what: 'This call' }
}

/** A path that cannot be decoded never reaches a handler. A proxy needs 403 for it, not 400. */
export const badGatewayUrl = (url: string): Problem | undefined =>
  url.startsWith(GATEWAY) ? pathRefused('the path has bad percent-encoding') : undefined
