import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../routing/root-route.tsx'

const operatorRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'operators',
  component: lazyRouteComponent(() => import('./operators-page.tsx'), 'OperatorsPage'),
})

export const operatorRoutes = [operatorRoute] as const
