import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../routing/project-route.tsx'
import { choiceParam, pageParams, textParam } from '../../routing/search-params.ts'

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

/** The setting to change, and a value to add there: a link leads from a refusal to its fix. */
type Search = Partial<Record<'change' | 'add', string | undefined>>

const apiKeyDetailRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'api-keys/$keyId',
  validateSearch: (raw: Record<string, unknown>): Search => ({
    change: choiceParam(raw.change, ['permissions', 'addresses', 'limit', 'secret']),
    add: textParam(raw.add),
  }),
  component: lazyRouteComponent(() => import('./api-key-page.tsx'), 'ApiKeyPage'),
})

export const apiKeyRoutes = [apiKeyRoute, apiKeyDetailRoute] as const
