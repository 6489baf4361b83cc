import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../routing/project-route.tsx'

const destinationRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'destinations',
  component: lazyRouteComponent(() => import('./destinations-page.tsx'), 'DestinationsPage'),
})

const addDestinationRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'destinations/new',
  component: lazyRouteComponent(() => import('./add-destination-page.tsx'), 'AddDestinationPage'),
})

const destinationDetailRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'destinations/$destinationId',
  component: lazyRouteComponent(() => import('./destination-page.tsx'), 'DestinationPage'),
})

export const destinationRoutes = [destinationRoute, addDestinationRoute, destinationDetailRoute] as const
