/**
 * Several processes of one service on one machine: who starts, replaces and stops them, and what they tell each other.
 * It never knows what a worker does; background work belongs to platform/worker.
 */
export { linkToPrimary, type PrimaryLink } from './link-to-primary.ts'
export type { Listening } from './messages.ts'
export { type Supervisor, superviseWorkers } from './supervise-workers.ts'
export { isWorker, markWorker } from './worker-mark.ts'
