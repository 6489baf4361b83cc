import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../routing/project-route.tsx'
import { pageParams, textParam } from '../../routing/search-params.ts'

const accessRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'access',
  validateSearch: (raw: Record<string, unknown>) => ({
    ...pageParams(raw),
    request: textParam(raw.request),
    key: textParam(raw.key),
    path: textParam(raw.path),
    address: textParam(raw.address),
    from: textParam(raw.from),
    to: textParam(raw.to),
    of: textParam(raw.of),
  }),
  component: lazyRouteComponent(() => import('./access-page.tsx'), 'AccessPage'),
})

export const accessRoutes = [accessRoute] as const
