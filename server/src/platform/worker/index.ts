/** Background work: when it runs, and how it ends. What it does belongs to the features. */
export { type Periodic, startPeriodic } from './periodic.ts'
