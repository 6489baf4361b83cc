import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../routing/project-route.tsx'
import { pageParams, textParam } from '../../routing/search-params.ts'

const customerRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'customers',
  validateSearch: (raw: Record<string, unknown>) => ({
    ...pageParams(raw),
    // A name, an email, the code of a card, an id or a source id.
    who: textParam(raw.who),
  }),
  component: lazyRouteComponent(() => import('./customers-page.tsx'), 'CustomersPage'),
})

const customerDetailRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'customers/$customerId',
  validateSearch: (raw: Record<string, unknown>): { cursor?: string | undefined } => ({
    cursor: pageParams(raw).cursor,
  }),
  component: lazyRouteComponent(() => import('./customer-page.tsx'), 'CustomerPage'),
})

export const customerRoutes = [customerRoute, customerDetailRoute] as const
