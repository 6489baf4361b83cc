/** Several HTTP processes of one service on one machine. Background jobs belong to platform/worker. */
export type { Listening } from './messages.ts'
export { type Supervisor, superviseWorkers } from './supervisor.ts'
export { connectToSupervisor, isWorker, type WorkerLink, workerEnvironment } from './worker-link.ts'
