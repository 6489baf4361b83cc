import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../routing/project-route.tsx'

const projectSettingsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'settings',
  component: lazyRouteComponent(() => import('./project-settings-page.tsx'), 'ProjectSettingsPage'),
})

export const projectSettingsRoutes = [projectSettingsRoute] as const
