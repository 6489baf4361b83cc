/** Projects: tenants and their token credits. Does not depend on what a project contains. */
export { createProjectIn } from './create-project.ts'
export { type CountTokens, projectRoutes } from './project.routes.ts'
export {
  countProjects,
  deleteProjectRow,
  findProject,
  forgetAllCredits,
  hasProjectNamed,
  listProjectsDeletedBefore,
  listProjectsNearLimit,
  type ProjectRow,
  type ProjectTables,
  updateProjectRow,
} from './project.store.ts'
export { requireLockedProject, requireProject } from './require-project.ts'
