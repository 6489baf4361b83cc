import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'

interface Job {
  readonly name: string
  readonly everyMs: number
  run(): Promise<unknown>
}

export interface Periodic {
  /** Runs the job as soon as the current run, if any, has ended. */
  soon(): void
  /** Ends after the current run. */
  stop(): Promise<void>
}

/** An abort reason of our own avoids creating an error with a stack for every wake-up. */
const WOKEN = 'woken'

/** Runs a job periodically, never twice at once. A failure is logged, and the next run retries. */
export function startPeriodic({ clock, log }: { clock: Clock; log: Log }, job: Job): Periodic {
  let stopped = false
  let alarm = new AbortController()
  let failing = false

  async function turn(): Promise<void> {
    try {
      await job.run()
      if (failing) log.info({ job: job.name }, 'works again')
      failing = false
    } catch (error) {
      // Logged once per outage, not once per run.
      if (!failing) log.warn({ job: job.name, reason: (error as Error).message }, 'failed, will retry')
      failing = true
    }
  }

  async function loop(): Promise<void> {
    while (!stopped) {
      await clock.sleep(job.everyMs, alarm.signal)
      if (stopped) return
      alarm = new AbortController()
      await turn()
    }
  }

  const done = loop()
  return {
    soon: () => alarm.abort(WOKEN),
    async stop() {
      stopped = true
      alarm.abort(WOKEN)
      await done
    },
  }
}
