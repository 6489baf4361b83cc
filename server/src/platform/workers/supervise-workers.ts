import type { ChildProcess } from 'node:child_process'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { FromWorker, Listening } from './messages.ts'
import { replacementDelay } from './replacement-delay.ts'
import { TotalMetrics } from './total-metrics.ts'
import { WorkerProcess } from './worker-process.ts'

/** A worker gives its clients 8 s and its store 5 s; beyond that it hangs. */
const STOP_WITHIN_MS = 15_000

interface Deps {
  readonly clock: Clock
  readonly log: Log
  /** Starts a process; where others listen already, it is told where. */
  launch(listening: Listening | undefined): ChildProcess
}

export interface Supervisor {
  /** Resolves once all serve. Where one cannot, none does, and it rejects. */
  start(): Promise<Listening>
  /** Every worker finishes what it has in flight. */
  stop(): Promise<void>
  /** For when this process ends, however: kills who was already told to stop; the others finish what is in flight. */
  leave(): void
}

/** Starts so many workers, replaces those that end, and passes on what they tell each other. It serves nothing itself. */
export function superviseWorkers({ clock, log, launch }: Deps, count: number): Supervisor {
  const team = new Set<WorkerProcess>()
  const total = new TotalMetrics()
  const over = new AbortController()
  let listening: Listening | undefined
  let started = false

  function bring(): WorkerProcess {
    const worker = new WorkerProcess(clock, launch(listening), hear)
    team.add(worker)
    void worker.ended.then(() => {
      team.delete(worker)
      total.keep(worker)
    })
    return worker
  }

  function hear(from: WorkerProcess, message: FromWorker): void {
    if (message.kind === 'wake') {
      for (const other of team) if (other !== from) other.tell(message)
    } else if (message.kind === 'total')
      void total.text([...team]).then((text) => from.tell({ kind: 'total', id: message.id, text }))
  }

  /** Keeps one place filled for as long as the service runs. */
  async function keepFilled(first: WorkerProcess): Promise<void> {
    let diedYoung = 0
    for (let worker = first; ; worker = bring()) {
      const { code, signal } = await worker.ended
      if (over.signal.aborted) return
      const next = replacementDelay(worker.livedMs, diedYoung)
      diedYoung = next.diedYoung
      const how = signal ? { signal } : { code }
      log.warn({ pid: worker.pid, ...how, replaced_in_ms: next.delayMs }, 'a worker ended')
      if (next.delayMs > 0) await clock.sleep(next.delayMs, over.signal)
      if (over.signal.aborted) return
      total.replaced.add()
    }
  }

  async function startAll(): Promise<Listening> {
    // The first one alone: it takes the port, or says why it cannot, once.
    const first = bring()
    listening = await first.ready
    const others = Array.from({ length: count - 1 }, bring)
    await Promise.all(others.map(({ ready }) => ready))
    for (const worker of [first, ...others]) void keepFilled(worker)
    return listening
  }

  async function stop(): Promise<void> {
    over.abort()
    const all = Promise.all([...team].map(({ ended }) => ended))
    // One that is still starting has nothing in flight.
    for (const worker of team) worker.isReady ? worker.tell({ kind: 'stop' }) : worker.kill('SIGKILL')
    const done = new AbortController()
    await Promise.race([all, clock.sleep(STOP_WITHIN_MS, done.signal)])
    done.abort()
    for (const worker of team) {
      log.warn({ pid: worker.pid }, 'a worker did not stop in time and is killed')
      worker.kill('SIGKILL')
    }
    await all
  }

  return {
    async start() {
      try {
        const where = await startAll()
        started = true
        return where
      } catch (error) {
        await stop()
        throw error
      }
    },
    stop,
    leave() {
      for (const worker of team) worker.kill(started && !over.signal.aborted ? 'SIGTERM' : 'SIGKILL')
    },
  }
}
