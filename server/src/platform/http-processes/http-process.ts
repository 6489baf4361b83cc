import type { ChildProcess } from 'node:child_process'
import type { Clock } from '../clock.ts'
import type { Family } from '../metric-families.ts'
import { EXIT, StartFailure } from '../start-failure.ts'
import { type FromHttpProcess, type Listening, PendingReplies, type ToHttpProcess } from './messages.ts'

/** A busy process replies within one turn of the event loop. One that hangs must not delay the metrics of the others. */
const METRICS_TIMEOUT_MS = 1_000

type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null }
type OnMessage = (from: HttpProcess, message: FromHttpProcess) => void

/** An HTTP process, as seen from the supervisor. */
export class HttpProcess {
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
      child.on('message', (message: FromHttpProcess) => {
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

  send(message: ToHttpProcess): void {
    if (this.child.connected) this.child.send(message, () => undefined)
  }

  /** A process that is still starting has nothing in flight. */
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

/** The process has printed why it cannot start; only its exit code is passed on. */
const startFailure = ({ code, signal }: Exit): StartFailure =>
  code === null
    ? new StartFailure(`An HTTP process was ended by ${signal} while it started.`, EXIT.refused)
    : new StartFailure('', code === 0 ? EXIT.refused : code)
