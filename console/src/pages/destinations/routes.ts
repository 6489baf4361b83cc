import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../routing/project-route.tsx'

const destinationRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'destinations',
  component: lazyRouteComponent(() => import('./destinations-page.tsx'), 'DestinationsPage'),
})

const destinationDetailRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'destinations/$destinationId',
  component: lazyRouteComponent(() => import('./destination-page.tsx'), 'DestinationPage'),
})

export const destinationRoutes = [destinationRoute, destinationDetailRoute] as const
