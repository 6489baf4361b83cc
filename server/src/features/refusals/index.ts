/** Refusals: a record for operators of why requests were refused. Responses to clients do not say it. Holds no secrets. */
export { createRefusalRecorder } from './record-refusal.ts'
export { refusalRoutes } from './refusal.routes.ts'
export { type Check, checksUpTo } from './steps.ts'
