/** Several HTTP processes of one service on one machine (JETON_WORKERS). A worker in this folder is an HTTP process, not `jeton worker`. */
export type { Listening } from './messages.ts'
export { type Supervisor, superviseWorkers } from './supervisor.ts'
export { connectToSupervisor, isWorker, type WorkerLink, workerEnvironment } from './worker-link.ts'
