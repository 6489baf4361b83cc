/** Projects: tenants, and the row that holds a project's credits. It never looks inside a project. */
export { createProjectIn } from './create-project.ts'
export { type CountTokens, projectRoutes } from './project.routes.ts'
export {
  countProjects,
  deleteProjectRow,
  forgetAllCredits,
  listProjectsDeletedBefore,
  type ProjectRow,
  type ProjectTables,
  updateProjectRow,
} from './project.store.ts'
export { requireLockedProject, requireProject } from './require-project.ts'
