import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../routing/project-route.tsx'
import { pageParams, textParam } from '../../routing/search-params.ts'

const customerRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'customers',
  validateSearch: (raw: Record<string, unknown>) => ({
    ...pageParams(raw),
    id: textParam(raw.id),
    source_id: textParam(raw.source_id),
    email: textParam(raw.email),
    card: textParam(raw.card),
  }),
  component: lazyRouteComponent(() => import('./customers-page.tsx'), 'CustomersPage'),
})

const customerDetailRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'customers/$customerId',
  component: lazyRouteComponent(() => import('./customer-page.tsx'), 'CustomerPage'),
})

export const customerRoutes = [customerRoute, customerDetailRoute] as const
