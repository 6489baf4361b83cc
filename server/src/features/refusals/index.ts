/** Refusals: what strangers are not told and operators can look up. It decides nothing and never holds a secret. */
export { createRefusalRecorder } from './record-refusal.ts'
export { refusalRoutes } from './refusal.routes.ts'
export { type Check, checksUpTo } from './steps.ts'
