import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../routing/root-route.tsx'
import { choiceParam, pageParams, textParam } from '../../routing/search-params.ts'

type Search = Partial<Record<'page' | 'cursor' | 'setting' | 'source', string | undefined>>

const systemRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'system',
  validateSearch: (raw: Record<string, unknown>): Search => ({
    ...pageParams(raw),
    setting: textParam(raw.setting),
    source: choiceParam(raw.source, ['environment', 'flag', 'default']),
  }),
  component: lazyRouteComponent(() => import('./system-page.tsx'), 'SystemPage'),
})

export const systemRoutes = [systemRoute] as const
