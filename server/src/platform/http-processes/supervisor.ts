import type { ChildProcess } from 'node:child_process'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { AggregateMetrics } from './aggregate-metrics.ts'
import { HttpProcess } from './http-process.ts'
import type { FromHttpProcess, Listening } from './messages.ts'

/** A process allows 8 s for clients and 5 s for its store. After that it hangs. */
const STOP_TIMEOUT_MS = 15_000
/** A process with this uptime did not fail at its start, and is replaced immediately. */
const STABLE_UPTIME_MS = 60_000
const MIN_RESTART_DELAY_MS = 200
/** Long enough to cost little, short enough that the service recovers soon after the cause is fixed. */
const MAX_RESTART_DELAY_MS = 30_000

/** Exponential backoff before a process is replaced, by the number of early exits in a row. */
export function restartDelay(uptimeMs: number, earlyExits: number): { delayMs: number; earlyExits: number } {
  if (uptimeMs >= STABLE_UPTIME_MS) return { delayMs: 0, earlyExits: 0 }
  const delayMs = Math.min(MAX_RESTART_DELAY_MS, MIN_RESTART_DELAY_MS * 2 ** earlyExits)
  return { delayMs, earlyExits: earlyExits + 1 }
}

interface Deps {
  readonly clock: Clock
  readonly log: Log
  /** Starts a process. All but the first get the addresses to listen on. */
  launch(listening: Listening | undefined): ChildProcess
}

export interface Supervisor {
  /** Resolves once all processes serve. If one cannot start, all are stopped and it rejects. */
  start(): Promise<Listening>
  stop(): Promise<void>
  /** For the exit of this process: processes that serve are asked to finish, all others are killed. */
  leave(): void
}

/** Starts `count` HTTP processes, replaces those that exit, and relays their messages. It serves no requests itself. */
export function superviseProcesses({ clock, log, launch }: Deps, count: number): Supervisor {
  const processes = new Set<HttpProcess>()
  const metrics = new AggregateMetrics()
  const stopping = new AbortController()
  let listening: Listening | undefined
  let started = false

  function spawnProcess(): HttpProcess {
    const one = new HttpProcess(clock, launch(listening), onMessage)
    processes.add(one)
    void one.exited.then(() => processes.delete(one) && metrics.keep(one))
    return one
  }

  function onMessage(from: HttpProcess, message: FromHttpProcess): void {
    if (message.kind === 'notification') {
      for (const other of processes) if (other !== from) other.send(message)
    } else if (message.kind === 'total')
      void metrics.text([...processes]).then((text) => from.send({ kind: 'total', id: message.id, text }))
  }

  /** Replaces a process and its replacements while the service runs. */
  async function keepRunning(first: HttpProcess): Promise<void> {
    let earlyExits = 0
    for (let one = first; ; one = spawnProcess()) {
      const startedAt = clock.monotonic()
      const { code, signal } = await one.exited
      if (stopping.signal.aborted) return
      const next = restartDelay(clock.monotonic() - startedAt, earlyExits)
      earlyExits = next.earlyExits
      const exit = signal ? { signal } : { code }
      log.warn({ pid: one.child.pid, ...exit, replaced_in_ms: next.delayMs }, 'an HTTP process ended')
      if (next.delayMs > 0) await clock.sleep(next.delayMs, stopping.signal)
      if (stopping.signal.aborted) return
      metrics.replaced.add()
    }
  }

  async function startAll(): Promise<Listening> {
    // The first one starts alone: it binds the port, or reports once why it cannot.
    const first = spawnProcess()
    listening = await first.ready
    const others = Array.from({ length: count - 1 }, spawnProcess)
    await Promise.all(others.map(({ ready }) => ready))
    for (const one of [first, ...others]) void keepRunning(one)
    started = true
    return listening
  }

  async function stop(): Promise<void> {
    stopping.abort()
    const all = Promise.all([...processes].map(({ exited }) => exited))
    for (const one of processes) one.stop()
    const done = new AbortController()
    await Promise.race([all, clock.sleep(STOP_TIMEOUT_MS, done.signal)])
    done.abort()
    for (const one of processes) {
      log.warn({ pid: one.child.pid }, 'an HTTP process did not stop in time and is killed')
      one.child.kill('SIGKILL')
    }
    await all
  }

  return {
    start: () => startAll().catch((error) => stop().then(() => Promise.reject(error))),
    stop,
    leave() {
      for (const one of processes) one.child.kill(started && !stopping.signal.aborted ? 'SIGTERM' : 'SIGKILL')
    },
  }
}
