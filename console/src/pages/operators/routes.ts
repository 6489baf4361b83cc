import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../routing/root-route.tsx'
import { pageParams, textParam } from '../../routing/search-params.ts'

type Search = Partial<Record<'page' | 'cursor' | 'operator', string | undefined>>

const operatorRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'operators',
  validateSearch: (raw: Record<string, unknown>): Search => pageParams(raw),
  component: lazyRouteComponent(() => import('./operators-page.tsx'), 'OperatorsPage'),
})

/** Sessions of browsers: one's own, and for admins those of every operator. */
const sessionRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'sessions',
  validateSearch: (raw: Record<string, unknown>): Search => ({
    ...pageParams(raw),
    operator: textParam(raw.operator),
  }),
  component: lazyRouteComponent(() => import('./sessions-page.tsx'), 'SessionsPage'),
})

export const operatorRoutes = [operatorRoute, sessionRoute] as const
