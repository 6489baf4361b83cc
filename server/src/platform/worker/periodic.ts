import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'

interface Job {
  readonly name: string
  readonly everyMs: number
  run(): Promise<unknown>
}

export interface Periodic {
  /** Runs the job as soon as the run under way, if any, is over. */
  soon(): void
  /** Ends after the run under way. */
  stop(): Promise<void>
}

/** Without a reason of ours every wake-up would make an error with its stack. */
const WOKEN = 'woken'

/** Runs a job again and again, never twice at once. A failure is logged and the next turn tries again. */
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
      // Once per outage, not once per turn.
      if (!failing) log.warn({ job: job.name, reason: (error as Error).message }, 'failed, will try again')
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
