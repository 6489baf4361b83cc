import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../routing/project-route.tsx'
import { pageParams, textParam } from '../../routing/search-params.ts'

const apiKeyRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'api-keys',
  validateSearch: (raw: Record<string, unknown>) => ({
    ...pageParams(raw),
    state: textParam(raw.state),
    name: textParam(raw.name),
    address: textParam(raw.address),
  }),
  component: lazyRouteComponent(() => import('./api-keys-page.tsx'), 'ApiKeysPage'),
})

const apiKeyDetailRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'api-keys/$keyId',
  component: lazyRouteComponent(() => import('./api-key-page.tsx'), 'ApiKeyPage'),
})

export const apiKeyRoutes = [apiKeyRoute, apiKeyDetailRoute] as const
