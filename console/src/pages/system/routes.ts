import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../routing/root-route.tsx'

const systemRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'system',
  component: lazyRouteComponent(() => import('./system-page.tsx'), 'SystemPage'),
})

export const systemRoutes = [systemRoute] as const
