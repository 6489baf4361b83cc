/** Access: what a token or a key opens, from where. It issues nothing and remembers nothing of its own. */
export { accessRoutes } from './access.routes.ts'
export { gatewayRoutes } from './gateway.routes.ts'
export { badGatewayUrl } from './gateway.ts'
export { createScopeGuard } from './scope-guard.ts'
export { tokenCheckRoutes } from './token-check.routes.ts'
