/** Access: decides which calls a token or key is allowed to make, and from where. Issues and stores nothing. */

export { accessRoutes } from './access.routes.ts'
export { gatewayRoutes } from './gateway.routes.ts'
export { badGatewayUrl } from './gateway-request.ts'
export { scopeRoutes } from './scope.routes.ts'
export { createScopeGuard } from './scope-guard.ts'
export { tokenCheckRoutes } from './token-check.routes.ts'
