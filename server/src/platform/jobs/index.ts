/** Scheduling of background jobs. The jobs themselves belong to the features. */
export { type Periodic, startPeriodic } from './periodic.ts'
