import type { HTTPMethods, RouteOptions } from 'fastify'
import { Problem } from '../../contract/problem.ts'
import type { App } from './app.ts'

type Config = NonNullable<RouteOptions['config']>

/** A path that has routes, asked by a method that it does not have. */
export interface OtherMethod {
  readonly url: string
  readonly config: Config
  readonly allow: string
}

/** With a route for each of these on every path. Node knows 26 more, which would cost 4 MB: they are looked up instead. */
const COMMON_METHODS: readonly HTTPMethods[] = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
]

export const methodNotAllowed = (method: string, allow: string): Problem =>
  new Problem('method_not_allowed', {
    message: `${method} is not possible here.`,
    details: `Use ${allow.replace(', ', ' or ')}.`,
    headers: { allow },
  })

/** Refuses, on every path of `routes`, the methods that it does not have. Returns the paths, for methods that are rare. */
export function refuseOtherMethods(app: App, routes: readonly RouteOptions[]): OtherMethod[] {
  const byUrl = Map.groupBy(routes, (route) => route.url)
  return [...byUrl].map(([url, own]) => {
    const allowed = own.flatMap((route) => route.method as HTTPMethods | HTTPMethods[])
    const allow = allowed.join(', ')
    const config = ruleOfOthers(own[0]!.config)
    const method = COMMON_METHODS.filter((one) => !allowed.includes(one))
    if (method.length > 0)
      app.route({
        method,
        url,
        schema: { hide: true } as never,
        config,
        onRequest: async (request) => {
          throw methodNotAllowed(request.method, allow)
        },
        handler: async () => undefined,
      })
    return { url, config, allow }
  })
}

/** Paths of the API require their scope for every method; elsewhere it is no secret that a method is missing. */
const ruleOfOthers = ({ access, scope, oauth, management }: Config = {}): Config =>
  access === 'scope'
    ? { access, ...(scope && { scope }) }
    : { access: 'public', oauth: oauth === true, management: management === true, noStore: true }

/** Matches what the router would take for `url`: a parameter is a segment of at most 300 characters. */
export function pathPattern(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (part === '*') return '.*'
    return part.startsWith(':') ? '[^/]{1,300}' : part.replaceAll('.', '\\.')
  })
  return new RegExp(`^${parts.join('/')}$`)
}
