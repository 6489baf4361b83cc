import type { RouteOptions } from 'fastify'
import { ROLES, type Role } from '../../contract/roles.ts'
import { scopeOfPath } from '../../contract/scopes.ts'

/** Clients of these paths have no token yet, and their credential may be in the form. */
const OAUTH = '/v1/oauth/'
const MANAGEMENT = '/management/'
/** Authenticates itself: the credential is in the body. */
const SIGN_IN = 'handler POST /management/v1/sessions'

type Config = NonNullable<RouteOptions['config']>

/**
 * The configuration of a management route: the least role that may call it. A route without `:project_id` in its path
 * also says which operators it is for, see `projects`; admins are never limited to projects.
 */
export const forOperators = (role: Role, projects?: NonNullable<Config['projects']>) =>
  ({ access: 'operator', management: true, role, ...(projects && { projects }) }) as const

/** Throws unless the route names its least role, and either its project or which operators it is for. */
function requireRole({ method, url }: RouteOptions, { role, projects }: Config): void {
  const route = `${method} ${url}`
  if (role === undefined || !ROLES.includes(role)) throw new Error(`${route} names no role.`)
  if (/\/projects\/:(?!project_id(\/|$))/.test(url))
    throw new Error(`${route} must name its project ":project_id": operators are limited by it.`)
  const isLimited = role === 'admin' || /\/:project_id(\/|$)/.test(url)
  if (!isLimited && projects === undefined)
    throw new Error(`${route} has no :project_id and does not say which operators it is for.`)
}

/** Completes the access rule of a route. Throws if it has none: such a route cannot be registered. */
export function accessRule(route: RouteOptions): Config {
  const { method, url, config } = route
  if (!config?.access) throw new Error(`${method} ${url} has no access rule.`)
  if (config.access !== 'scope') {
    if (scopeOfPath(url) !== null && !url.startsWith(OAUTH))
      throw new Error(`${method} ${url} is part of the API: its access must be by scope.`)
    if (config.access === 'operator') requireRole(route, config)
    else if (url.startsWith(MANAGEMENT) && `${config.access} ${method} ${url}` !== SIGN_IN)
      throw new Error(`${method} ${url} must be for operators.`)
    return config
  }
  const scope = config.scope ?? scopeOfPath(url)
  if (scope === null) throw new Error(`${method} ${url} requires a scope, and its path has none.`)
  return { ...config, scope }
}
