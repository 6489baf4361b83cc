import { METHODS } from 'node:http'
import type { FastifyReply, FastifyRequest, HTTPMethods, RouteOptions } from 'fastify'
import { Problem } from '../../contract/problem.ts'
import type { App, RouteRule } from './app.ts'
import { pathNotFound } from './errors.ts'
import { type Hooks, pathOf } from './hooks.ts'

/** CONNECT never becomes a request: Node closes its connection. */
export const ALL_METHODS = METHODS.filter((method) => method !== 'CONNECT') as HTTPMethods[]
export const CATCH_ALL = '*'
const MANAGEMENT = /^\/management(\/|$)/

type Config = NonNullable<RouteOptions['config']>

/** Matches the same paths as the router: a parameter is a segment of at most 300 characters. */
function pathPattern(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (part === '*') return '.*'
    return part.startsWith(':') ? '[^/]{1,300}' : part.replaceAll('.', '\\.')
  })
  return new RegExp(`^${parts.join('/')}$`)
}

/** API paths require their scope for every method. For other paths it is no secret that a method is missing. */
const configOfOthers = ({ access, scope, oauth, management }: Config = {}): Config =>
  access === 'scope'
    ? { access, ...(scope && { scope }) }
    : { access: 'public', oauth: oauth === true, management: management === true, noStore: true }

/** The path as the router reads it: without the host that RFC 9112 §3.2.2 allows, and decoded if possible. */
function routedPath({ url }: FastifyRequest): string {
  const path = pathOf(url).replace(/^https?:\/\/.*?\//, '/')
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

const unknownPath = ({ method, url }: FastifyRequest): Problem =>
  pathNotFound(`Not found: ${method} ${JSON.stringify(pathOf(url).slice(0, 120))}.`)

const methodNotAllowed = ({ method }: FastifyRequest, allow: string): Problem =>
  new Problem('method_not_allowed', {
    message: `${method} is not allowed here.`,
    details: `Use ${allow.replace(', ', ' or ')}.`,
    headers: { allow },
  })

/**
 * Answers requests without a route: 405 if the path has one for another method, else 404. Below `/management` only if the
 * client's address is allowed, so that others learn nothing.
 */
export function createUnroutedAnswers({ ruleFor }: Hooks) {
  const unknown = ruleFor({ url: 'unknown', method: 'any', config: { noStore: true } })
  const restricted = ruleFor({ url: 'unknown', method: 'any', config: { noStore: true, management: true } })
  let paths: readonly { pattern: RegExp; allow: string; rule: RouteRule }[] = []
  let hasManagement = false

  const ruleOfUnknown = (path: string): RouteRule =>
    hasManagement && MANAGEMENT.test(path) ? restricted : unknown

  /** Sorts paths without parameters first, like the router. */
  function learn(routes: readonly RouteOptions[]): void {
    const parameters = (url: string) => url.split(/[:*]/).length
    const byUrl = [...Map.groupBy(routes, ({ url }) => url)]
    hasManagement = byUrl.some(([url]) => MANAGEMENT.test(url))
    paths = byUrl
      .toSorted(([a], [b]) => parameters(a) - parameters(b))
      .map(([url, own]) => ({
        pattern: pathPattern(url),
        allow: own.flatMap(({ method }) => method).join(', '),
        rule: ruleFor({ url, method: ALL_METHODS, config: configOfOthers(own[0]!.config) }),
      }))
  }

  /** Runs as a hook, because a handler would read the body first and report its errors. */
  function refuse(request: FastifyRequest, reply: FastifyReply, done: (error: Error) => void): void {
    const path = routedPath(request)
    const known = paths.find(({ pattern }) => pattern.test(path))
    const problem = known ? methodNotAllowed(request, known.allow) : unknownPath(request)
    const rule = known?.rule ?? ruleOfUnknown(path)
    rule.begin(request, reply, (error) => done(error ?? problem))
  }

  return {
    /** Registers the route for everything that no other route matches. Call it after all routes are registered. */
    register(app: App, routes: readonly RouteOptions[]): void {
      learn(routes)
      const [schema, handler] = [{ hide: true } as never, () => undefined]
      app.route({ method: ALL_METHODS, url: CATCH_ALL, schema, handler, onRequest: refuse as never })
    },
    /** For a path that cannot be decoded. Calls `answer` without an error if the client may learn that. */
    begin(request: FastifyRequest, reply: FastifyReply, answer: (error?: unknown) => void): void {
      try {
        ruleOfUnknown(routedPath(request)).begin(request, reply, answer)
      } catch (error) {
        answer(error)
      }
    },
  }
}
