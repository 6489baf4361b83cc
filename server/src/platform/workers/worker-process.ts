import type { ChildProcess } from 'node:child_process'
import type { Clock } from '../clock.ts'
import type { Family } from '../metric-families.ts'
import { EXIT, StartFailure } from '../start-failure.ts'
import { type FromWorker, type Listening, PendingReplies, type ToWorker } from './messages.ts'

/** A busy worker replies within one turn of the event loop. One that hangs must not delay the metrics of the others. */
const METRICS_TIMEOUT_MS = 1_000

type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null }
type OnMessage = (worker: WorkerProcess, message: FromWorker) => void

/** A worker process, seen from the supervisor. */
export class WorkerProcess {
  readonly child: ChildProcess
  readonly #replies: PendingReplies<readonly Family[]>
  readonly exited: Promise<Exit>
  /** Resolves with the addresses that it listens on. Rejects if it exits before that. */
  readonly ready: Promise<Listening>
  #isReady = false
  families: readonly Family[] = []

  constructor(clock: Clock, child: ChildProcess, onMessage: OnMessage) {
    this.child = child
    this.#replies = new PendingReplies(clock, METRICS_TIMEOUT_MS)
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }))
      // Without a pid the process could not be started.
      child.once('error', () => child.pid === undefined && resolve({ code: EXIT.refused, signal: null }))
    })
    this.ready = new Promise((resolve, reject) => {
      child.on('message', (message: FromWorker) => {
        if (message.kind === 'ready') {
          this.#isReady = true
          resolve({ url: message.url, managementUrl: message.managementUrl })
        } else if (message.kind === 'metrics') this.#replies.resolve(message.id, message.families)
        else onMessage(this, message)
      })
      void this.exited.then((exit) => reject(startFailure(exit)))
    })
    this.ready.catch(() => undefined)
  }

  send(message: ToWorker): void {
    if (this.child.connected) this.child.send(message, () => undefined)
  }

  /** A worker that is still starting has nothing in flight. */
  stop(): void {
    if (this.#isReady) this.send({ kind: 'stop' })
    else this.child.kill('SIGKILL')
  }

  /** Requests its metrics. Without a reply in time the last report is used. */
  async refreshMetrics(): Promise<void> {
    const families = await this.#replies.request((id) => this.send({ kind: 'metrics', id }))
    if (families) this.families = families
  }
}

/** The worker has printed why it cannot start; only its exit code is passed on. */
const startFailure = ({ code, signal }: Exit): StartFailure =>
  code === null
    ? new StartFailure(`A worker was ended by ${signal} while it started.`, EXIT.refused)
    : new StartFailure('', code === 0 ? EXIT.refused : code)
