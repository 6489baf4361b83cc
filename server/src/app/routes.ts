import { accessRoutes, gatewayRoutes, scopeRoutes, tokenCheckRoutes } from '../features/access/index.ts'
import { apiKeyRoutes, checkAddressRoutes } from '../features/api-keys/index.ts'
import { auditRoutes } from '../features/audit/index.ts'
import { deliveryRoutes, queueRoutes, recoveryRoutes, signEventRoutes } from '../features/deliveries/index.ts'
import { eventRoutes, eventSchemaRoutes, reportRoutes } from '../features/events/index.ts'
import { operatorRoutes, sessionRoutes } from '../features/operators/index.ts'
import { processRoutes } from '../features/processes/index.ts'
import { projectRoutes } from '../features/projects/index.ts'
import { publicationRoutes } from '../features/publications/index.ts'
import { refusalRoutes } from '../features/refusals/index.ts'
import { supportRoutes } from '../features/support/index.ts'
import { oauthRoutes, tokenRoutes } from '../features/tokens/index.ts'
import { usageRoutes } from '../features/usage/index.ts'
import { checkTargetRoutes, destinationRoutes } from '../features/webhooks/index.ts'
import type { App } from '../platform/http/index.ts'
import type { Metrics } from '../platform/metrics.ts'
import { type AttentionDeps, attentionRoutes } from './attention/attention.routes.ts'
import { docsRoutes } from './docs/docs.routes.ts'
import { errorPageRoutes, type ReferenceDeps, referenceRoutes } from './docs/reference.routes.ts'
import { healthRoutes, metricsRoute } from './health.routes.ts'
import { type HomeDeps, homeRoutes } from './home.routes.ts'
import { loyaltyRoutes } from './loyalty.ts'
import { serviceRoutes } from './service.routes.ts'

type DepsOf<F extends (app: App, deps: never) => void> = Parameters<F>[1]

/** Dependencies of all routes together. compose() creates them. */
export type RouteDeps = DepsOf<typeof operatorRoutes> &
  DepsOf<typeof sessionRoutes> &
  DepsOf<typeof projectRoutes> &
  DepsOf<typeof apiKeyRoutes> &
  DepsOf<typeof auditRoutes> &
  DepsOf<typeof refusalRoutes> &
  DepsOf<typeof processRoutes> &
  DepsOf<typeof serviceRoutes> &
  DepsOf<typeof oauthRoutes> &
  DepsOf<typeof tokenRoutes> &
  DepsOf<typeof gatewayRoutes> &
  DepsOf<typeof loyaltyRoutes> &
  DepsOf<typeof eventSchemaRoutes> &
  DepsOf<typeof eventRoutes> &
  DepsOf<typeof reportRoutes> &
  DepsOf<typeof checkTargetRoutes> &
  DepsOf<typeof destinationRoutes> &
  DepsOf<typeof signEventRoutes> &
  DepsOf<typeof deliveryRoutes> &
  DepsOf<typeof usageRoutes> &
  DepsOf<typeof healthRoutes> &
  DepsOf<typeof metricsRoute> &
  ReferenceDeps &
  AttentionDeps &
  HomeDeps & { readonly metrics: Metrics }

/** Routes for clients with a key or a token. */
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

/** Routes for operators, on their own listener if JETON_MANAGEMENT_PORT is set. */
export function addManagementRoutes(app: App, deps: RouteDeps): void {
  metricsRoute(app, deps)
  referenceRoutes(app, deps)
  docsRoutes(app, deps)
  operatorRoutes(app, deps)
  sessionRoutes(app, deps)
  projectRoutes(app, deps)
  apiKeyRoutes(app, deps)
  checkAddressRoutes(app, deps)
  scopeRoutes(app)
  tokenRoutes(app, deps)
  accessRoutes(app, deps)
  tokenCheckRoutes(app, deps)
  eventRoutes(app, deps)
  destinationRoutes(app, deps)
  checkTargetRoutes(app, deps)
  signEventRoutes(app, deps)
  deliveryRoutes(app, deps)
  recoveryRoutes(app, deps)
  supportRoutes(app, deps)
  auditRoutes(app, deps)
  refusalRoutes(app, deps)
  usageRoutes(app, deps)
  attentionRoutes(app, deps)
  processRoutes(app, deps)
  serviceRoutes(app, deps)
  queueRoutes(app, deps)
}
