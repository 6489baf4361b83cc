import type { RouteOptions } from 'fastify'
import { scopeOfPath } from '../../contract/scopes.ts'

/** Clients of these paths have no token yet, and their credential may be in the form. */
const OAUTH = '/v1/oauth/'

/** Completes the access rule of a route. Throws if it has none: such a route cannot be registered. */
export function accessRule({ method, url, config }: RouteOptions): NonNullable<RouteOptions['config']> {
  if (!config?.access) throw new Error(`${method} ${url} has no access rule.`)
  if (config.access !== 'scope') {
    if (scopeOfPath(url) !== null && !url.startsWith(OAUTH))
      throw new Error(`${method} ${url} is part of the API: its access must be by scope.`)
    return config
  }
  const scope = config.scope ?? scopeOfPath(url)
  if (scope === null) throw new Error(`${method} ${url} requires a scope, and its path has none.`)
  return { ...config, scope }
}
