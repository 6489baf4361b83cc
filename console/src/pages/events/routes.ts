import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../routing/project-route.tsx'
import { pageParams, textParam } from '../../routing/search-params.ts'

const eventRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'events',
  validateSearch: (raw: Record<string, unknown>) => ({
    ...pageParams(raw),
    from: textParam(raw.from),
    to: textParam(raw.to),
    entity: textParam(raw.entity),
    kind: textParam(raw.kind),
    undelivered: textParam(raw.undelivered),
  }),
  component: lazyRouteComponent(() => import('./events-page.tsx'), 'EventsPage'),
})

const eventDetailRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'events/$eventId',
  // The delivery whose request is shown.
  validateSearch: (raw: Record<string, unknown>): { delivery?: string | undefined } => ({
    delivery: textParam(raw.delivery),
  }),
  component: lazyRouteComponent(() => import('./event-page.tsx'), 'EventPage'),
})

export const eventRoutes = [eventRoute, eventDetailRoute] as const
