import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../routing/project-route.tsx'

const overviewRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'overview',
  component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
})

export const overviewRoutes = [overviewRoute] as const
