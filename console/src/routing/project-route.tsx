import { createRoute, Outlet, useParams } from '@tanstack/react-router'
import { rootRoute } from './root-route.tsx'

/** Parent of every page of a project. */
export const projectRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'projects/$projectId',
  component: Outlet,
})

/** The id of the project in the URL. */
export const useProjectId = (): string => useParams({ from: '/projects/$projectId' }).projectId
