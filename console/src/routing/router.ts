import { createRouter } from '@tanstack/react-router'
import { accessRoutes } from '../pages/access/routes.ts'
import { apiKeyRoutes } from '../pages/api-keys/routes.ts'
import { auditLogRoutes } from '../pages/audit-log/routes.ts'
import { customerRoutes } from '../pages/customers/routes.ts'
import { deliveryRoutes } from '../pages/deliveries/routes.ts'
import { destinationRoutes } from '../pages/destinations/routes.ts'
import { eventRoutes } from '../pages/events/routes.ts'
import { operatorRoutes } from '../pages/operators/routes.ts'
import { overviewRoutes } from '../pages/overview/routes.ts'
import { projectSettingsRoutes } from '../pages/project-settings/routes.ts'
import { systemRoutes } from '../pages/system/routes.ts'
import { tokenRoutes } from '../pages/tokens/routes.ts'
import { homeRoute } from './home-route.tsx'
import { projectRoute } from './project-route.tsx'
import { rootRoute } from './root-route.tsx'
import { parseSearch, stringifySearch } from './search-params.ts'

const routeTree = rootRoute.addChildren([
  homeRoute,
  projectRoute.addChildren([
    ...overviewRoutes,
    ...apiKeyRoutes,
    ...tokenRoutes,
    ...accessRoutes,
    ...eventRoutes,
    ...deliveryRoutes,
    ...destinationRoutes,
    ...customerRoutes,
    ...auditLogRoutes,
    ...projectSettingsRoutes,
  ]),
  ...systemRoutes,
  ...operatorRoutes,
])

export const router = createRouter({
  routeTree,
  basepath: '/console',
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
