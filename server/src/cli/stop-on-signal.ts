import type { Log } from '../platform/log.ts'
import type { WorkerLink } from '../platform/workers/index.ts'

interface Stoppable {
  stop(): Promise<void>
}

/** What is in flight finishes; whoever asks twice means it. */
export function stopOnSignal(service: Stoppable, log: Log): void {
  let stopping = false
  stopOnBug(service, log)
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      // The second time someone means it.
      if (stopping) process.exit(1)
      stopping = true
      void stopAndExit(service, log)
    })
}

/** For a worker of several: what is in flight finishes when the primary says so, or is gone, or at a signal to it alone. */
export function stopWithPrimary(service: Stoppable, primary: WorkerLink, log: Log): void {
  let stopping = false
  const stop = () => {
    if (!stopping) void stopAndExit(service, log)
    stopping = true
  }
  stopOnBug(service, log)
  // Ctrl-C reaches every process of the terminal; the primary says when to stop.
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', stop)
  primary.onStop(stop)
}

/** A bug of ours: what state we are in is unknown, so what is in flight finishes and the supervisor starts us anew. */
function stopOnBug(service: Stoppable, log: Log): void {
  process.on('unhandledRejection', async (error) => {
    log.fatal({ err: error }, 'bug')
    await service.stop().catch(() => undefined)
    process.exit(1)
  })
}

async function stopAndExit(service: Stoppable, log: Log): Promise<void> {
  await service.stop().catch((error) => log.error({ err: error }, 'stopping failed'))
  process.exit(0)
}
