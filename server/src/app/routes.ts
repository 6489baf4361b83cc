import { accessRoutes, gatewayRoutes } from '../features/access/index.ts'
import { apiKeyRoutes } from '../features/api-keys/index.ts'
import { auditRoutes } from '../features/audit/index.ts'
import { deliveryRoutes, signEventRoutes } from '../features/deliveries/index.ts'
import { eventRoutes, eventSchemaRoutes, reportRoutes } from '../features/events/index.ts'
import { operatorRoutes, sessionRoutes } from '../features/operators/index.ts'
import { projectRoutes } from '../features/projects/index.ts'
import { publicationRoutes } from '../features/publications/index.ts'
import { refusalRoutes } from '../features/refusals/index.ts'
import { oauthRoutes, tokenRoutes } from '../features/tokens/index.ts'
import { destinationRoutes } from '../features/webhooks/index.ts'
import type { App } from '../platform/http/index.ts'
import type { Metrics } from '../platform/metrics.ts'
import { docsRoutes } from './docs/docs.routes.ts'
import { errorPageRoutes, type ReferenceDeps, referenceRoutes } from './docs/reference.routes.ts'
import { healthRoutes, metricsRoute } from './health.routes.ts'
import { type HomeDeps, homeRoutes } from './home.routes.ts'
import { loyaltyRoutes } from './loyalty.ts'

type DepsOf<F extends (app: App, deps: never) => void> = Parameters<F>[1]

/** What all routes together need; compose() makes it, and each takes its part. */
export type RouteDeps = DepsOf<typeof operatorRoutes> &
  DepsOf<typeof sessionRoutes> &
  DepsOf<typeof projectRoutes> &
  DepsOf<typeof apiKeyRoutes> &
  DepsOf<typeof auditRoutes> &
  DepsOf<typeof refusalRoutes> &
  DepsOf<typeof oauthRoutes> &
  DepsOf<typeof tokenRoutes> &
  DepsOf<typeof gatewayRoutes> &
  DepsOf<typeof loyaltyRoutes> &
  DepsOf<typeof eventSchemaRoutes> &
  DepsOf<typeof reportRoutes> &
  DepsOf<typeof destinationRoutes> &
  DepsOf<typeof signEventRoutes> &
  DepsOf<typeof deliveryRoutes> &
  DepsOf<typeof healthRoutes> &
  DepsOf<typeof metricsRoute> &
  ReferenceDeps &
  HomeDeps & { readonly metrics: Metrics }

/** For everyone who holds a key or a token. */
export function addPublicRoutes(app: App, deps: RouteDeps): void {
  oauthRoutes(app, deps)
  gatewayRoutes(app, deps)
  loyaltyRoutes(app, deps)
  reportRoutes(app, deps)
  publicationRoutes(app, deps)
  eventSchemaRoutes(app, deps)
  healthRoutes(app, deps)
  errorPageRoutes(app)
  homeRoutes(app, deps)
}

/** For operators: on a listener of its own where JETON_MANAGEMENT_PORT says so. */
export function addManagementRoutes(app: App, deps: RouteDeps): void {
  metricsRoute(app, deps)
  referenceRoutes(app, deps)
  docsRoutes(app, deps)
  operatorRoutes(app, deps)
  sessionRoutes(app, deps)
  projectRoutes(app, deps)
  apiKeyRoutes(app, deps)
  tokenRoutes(app, deps)
  accessRoutes(app, deps)
  eventRoutes(app, deps)
  destinationRoutes(app, deps)
  signEventRoutes(app, deps)
  deliveryRoutes(app, deps)
  auditRoutes(app, deps)
  refusalRoutes(app, deps)
}
