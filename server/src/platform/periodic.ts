import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

interface Job {
  readonly name: string
  /** For operators. */
  readonly purpose: string
  readonly everyMs: number
  run(): Promise<unknown>
}

/** A job and its last run, which operators see. */
export interface JobState extends Readonly<Omit<Job, 'run'>> {
  /** Null before the first run. */
  lastRunAt: number | null
  lastDurationMs: number | null
  /** Null if the last run succeeded. */
  error: string | null
}

interface Deps {
  readonly clock: Clock
  readonly log: Log
  /** The state of the job is added to this list. */
  readonly jobs?: JobState[] | undefined
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
export function startPeriodic({ clock, log, jobs }: Deps, job: Job): Periodic {
  const { name, purpose, everyMs } = job
  const state: JobState = { name, purpose, everyMs, lastRunAt: null, lastDurationMs: null, error: null }
  jobs?.push(state)
  let stopped = false
  let alarm = new AbortController()

  async function turn(): Promise<void> {
    const startedAt = clock.monotonic()
    try {
      await job.run()
      if (state.error !== null) log.info({ job: name }, 'works again')
      state.error = null
    } catch (error) {
      const reason = (error as Error).message
      // Logged once per outage, not once per run.
      if (state.error === null) log.warn({ job: name, reason }, 'failed, will retry')
      state.error = reason
    }
    state.lastRunAt = clock.now()
    state.lastDurationMs = clock.monotonic() - startedAt
  }

  async function loop(): Promise<void> {
    while (!stopped) {
      await clock.sleep(everyMs, alarm.signal)
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
