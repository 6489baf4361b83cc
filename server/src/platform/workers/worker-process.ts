import type { ChildProcess } from 'node:child_process'
import type { Clock } from '../clock.ts'
import type { Family } from '../metric-families.ts'
import { EXIT, StartFailure } from '../start-failure.ts'
import type { FromWorker, Listening, ToWorker } from './messages.ts'
import { Questions } from './questions.ts'

/** A worker that is busy answers at its next turn; one that hangs must not hold up who asks for metrics. */
const METRICS_WITHIN_MS = 1_000

export interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A worker as the primary sees it. */
export class WorkerProcess {
  readonly #child: ChildProcess
  readonly #questions: Questions<readonly Family[]>
  readonly #bornAt: number
  readonly #clock: Clock
  readonly ended: Promise<End>
  /** Where it listens; rejected where it ends before. */
  readonly ready: Promise<Listening>
  isReady = false
  /** What it last said that it had counted. */
  families: readonly Family[] = []

  constructor(clock: Clock, child: ChildProcess, hear: (worker: WorkerProcess, message: FromWorker) => void) {
    this.#child = child
    this.#clock = clock
    this.#bornAt = clock.monotonic()
    this.#questions = new Questions(clock, METRICS_WITHIN_MS)
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }))
      // It could not even be started.
      child.once('error', () => child.pid === undefined && resolve({ code: EXIT.refused, signal: null }))
    })
    this.ready = new Promise((resolve, reject) => {
      child.on('message', (message: FromWorker) => {
        if (message.kind === 'ready') this.isReady = true
        if (message.kind === 'ready') resolve({ url: message.url, managementUrl: message.managementUrl })
        else if (message.kind === 'metrics') this.#questions.answer(message.id, message.families)
        else hear(this, message)
      })
      void this.ended.then((end) => reject(whyItEnded(end)))
    })
    // Whoever waits for it is told; that nobody does is no error.
    this.ready.catch(() => undefined)
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get livedMs(): number {
    return this.#clock.monotonic() - this.#bornAt
  }

  tell(message: ToWorker): void {
    // One that is just ending hears nothing any more, and that is heard by itself.
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }

  /** Asks what it has counted. Where it does not say so in time, what it said before stands. */
  async count(): Promise<void> {
    const families = await this.#questions.ask((id) => this.tell({ kind: 'metrics', id }))
    if (families) this.families = families
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }
}

/** The worker itself has said in one line why it cannot start; only the code is passed on. */
const whyItEnded = ({ code, signal }: End): StartFailure =>
  code === null
    ? new StartFailure(`A worker was ended by ${signal} while it started.`, EXIT.refused)
    : new StartFailure('', code === 0 ? EXIT.refused : code)
