import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../routing/project-route.tsx'
import { choiceParam, pageParams, textParam } from '../../routing/search-params.ts'

const auditLogRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'audit-log',
  validateSearch: (raw: Record<string, unknown>) => ({
    ...pageParams(raw),
    from: textParam(raw.from),
    to: textParam(raw.to),
    action: textParam(raw.action),
    actor: textParam(raw.actor),
    subject: textParam(raw.subject),
    of: choiceParam(raw.of, ['service']),
  }),
  component: lazyRouteComponent(() => import('./audit-log-page.tsx'), 'AuditLogPage'),
})

export const auditLogRoutes = [auditLogRoute] as const
