import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../routing/project-route.tsx'
import { pageParams, textParam } from '../../routing/search-params.ts'

const deliveryRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'deliveries',
  validateSearch: (raw: Record<string, unknown>) => ({
    ...pageParams(raw),
    from: textParam(raw.from),
    to: textParam(raw.to),
    state: textParam(raw.state),
    status: textParam(raw.status),
    destination: textParam(raw.destination),
    event: textParam(raw.event),
    http_status: textParam(raw.http_status),
    error: textParam(raw.error),
  }),
  component: lazyRouteComponent(() => import('./deliveries-page.tsx'), 'DeliveriesPage'),
})

const deliveryDetailRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'deliveries/$deliveryId',
  component: lazyRouteComponent(() => import('./delivery-page.tsx'), 'DeliveryPage'),
})

export const deliveryRoutes = [deliveryRoute, deliveryDetailRoute] as const
