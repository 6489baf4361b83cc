import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../routing/project-route.tsx'
import { pageParams, textParam } from '../../routing/search-params.ts'

const tokenRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'tokens',
  validateSearch: (raw: Record<string, unknown>) => ({
    ...pageParams(raw),
    key: textParam(raw.key),
  }),
  component: lazyRouteComponent(() => import('./tokens-page.tsx'), 'TokensPage'),
})

export const tokenRoutes = [tokenRoute] as const
