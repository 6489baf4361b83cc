/** Several HTTP processes of one service on one machine. */
export type { Listening } from './messages.ts'
export { type Supervisor, superviseProcesses } from './supervisor.ts'
export {
  connectToSupervisor,
  isSupervised,
  type SupervisorLink,
  supervisedEnvironment,
} from './supervisor-link.ts'
