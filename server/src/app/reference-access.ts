import { readFileSync } from 'node:fs'
import { isLoopbackHost } from '../platform/addresses.ts'
import type { Config } from '../platform/config/index.ts'
import type { RouteDeps } from './routes.ts'

/**
 * Access to `/metrics`, `/docs` and `/openapi.json`. They are public on their own listener, behind an allowlist and on a
 * loopback address. Otherwise they require an operator's credential.
 */
export function readAccess(
  config: Config,
): Pick<RouteDeps, 'metricsAccess' | 'referenceAccess' | 'hasApi' | 'hasReference' | 'hasConsole'> {
  const isApart = config.JETON_MANAGEMENT_PORT !== undefined || config.JETON_MANAGEMENT_ALLOW.length > 0
  const referenceAccess = isApart || isLoopbackHost(config.JETON_HOST) ? 'public' : 'operator'
  return {
    hasApi: true,
    hasConsole: config.JETON_CONSOLE === 'on' && config.JETON_MANAGEMENT_PORT === undefined,
    hasReference: config.JETON_MANAGEMENT_PORT === undefined && referenceAccess === 'public',
    referenceAccess,
    metricsAccess: config.JETON_METRICS_PUBLIC === 'on' ? 'public' : referenceAccess,
  }
}

/** Generated from the routes, verified by `npm run check`, and read on demand. */
export const readOpenApi = (): object =>
  JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))
