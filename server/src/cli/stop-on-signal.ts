import type { Log } from '../platform/log.ts'

interface Stoppable {
  stop(): Promise<void>
}

/** What is in flight finishes; whoever asks twice means it. */
export function stopOnSignal(service: Stoppable, log: Log): void {
  let stopping = false
  // A bug of ours: what state we are in is unknown, so what is in flight finishes and the supervisor starts us anew.
  process.on('unhandledRejection', async (error) => {
    log.fatal({ err: error }, 'bug')
    await service.stop().catch(() => undefined)
    process.exit(1)
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, async () => {
      // The second time someone means it.
      if (stopping) process.exit(1)
      stopping = true
      await service.stop().catch((error) => log.error({ err: error }, 'stopping failed'))
      process.exit(0)
    })
}
