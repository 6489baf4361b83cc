import type { SupervisorLink } from '../platform/http-processes/index.ts'
import type { Log } from '../platform/log.ts'

interface Stoppable {
  stop(): Promise<void>
}

/** The first signal lets requests in flight finish; the second one ends the process. */
export function stopOnSignal(service: Stoppable, log: Log): void {
  let stopping = false
  stopOnBug(service, log)
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (stopping) process.exit(1)
      stopping = true
      void stopAndExit(service, log)
    })
}

/** Stops an HTTP process when its supervisor requests it or has ended, or on a signal. Requests in flight finish. */
export function stopWithSupervisor(service: Stoppable, supervisor: SupervisorLink, log: Log): void {
  let stopping = false
  const stop = () => {
    if (!stopping) void stopAndExit(service, log)
    stopping = true
  }
  stopOnBug(service, log)
  // Ctrl-C reaches every process of the terminal. The supervisor decides when to stop.
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', stop)
  supervisor.onStop(stop)
}

/** After a bug the state is unknown: requests in flight finish, then a supervisor can restart the process. */
function stopOnBug(service: Stoppable, log: Log): void {
  process.on('unhandledRejection', async (error) => {
    log.fatal({ err: error }, 'bug')
    await service.stop().catch(() => undefined)
    process.exit(1)
  })
}

async function stopAndExit(service: Stoppable, log: Log): Promise<void> {
  await service.stop().catch((error) => log.error({ err: error }, 'shutdown failed'))
  process.exit(0)
}
