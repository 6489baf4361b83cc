/** Processes: which ones run, and how far changes of API keys have spread among them. It knows no other feature. */
export { HEARTBEAT_EVERY_MS, Heartbeat, removeOldProcesses } from './heartbeat.ts'
export { processRoutes } from './process.routes.ts'
export { findFirstProcessId, listStaleProcesses } from './process.store.ts'
export type { CacheFigures, ProcessIdentity } from './process.ts'
export { type Propagation, waitForPropagation } from './wait-for-propagation.ts'
