import type { Clock } from '../clock.ts'
import type { Family } from '../metric-families.ts'
import { type FromHttpProcess, type Listening, PendingReplies, type ToHttpProcess } from './messages.ts'

/** Longer than the supervisor waits for the processes. */
const TOTAL_TIMEOUT_MS = 3_000
/** Not a setting: the supervisor sets it for its children. An IPC channel alone proves nothing, because pm2 opens one too. */
const SUPERVISOR_VARIABLE = 'SUPERVISOR_OF_JETON'

export const supervisedEnvironment = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...environment,
  [SUPERVISOR_VARIABLE]: String(process.pid),
})

export const isSupervised = (): boolean =>
  process.env[SUPERVISOR_VARIABLE] === String(process.ppid) && process.send !== undefined

/** Channel of an HTTP process to the supervisor, and through it to the other processes. */
export interface SupervisorLink {
  ready(listening: Listening): void
  /** Notifications of the store, to and from the other processes. */
  readonly notifications: { send(topic: string): void; onReceived(listener: (topic: string) => void): void }
  /** The metrics of the whole service as text; undefined if the supervisor does not reply. */
  totalText(): Promise<string | undefined>
  reportMetrics(families: () => readonly Family[]): void
  /** Calls back when the supervisor requests it or is gone, because nobody would replace or stop this process without it. */
  onStop(stop: () => void): void
}

/** Returns the channel if a supervisor started this process. */
export function connectToSupervisor(clock: Clock): SupervisorLink | undefined {
  const isChild = isSupervised()
  delete process.env[SUPERVISOR_VARIABLE]
  if (!isChild) return undefined
  const totals = new PendingReplies<string>(clock, TOTAL_TIMEOUT_MS)
  const listeners: ((topic: string) => void)[] = []
  const stops: (() => void)[] = []
  let families: () => readonly Family[] = () => []
  let stopping = false

  const send = (message: FromHttpProcess) =>
    void (process.connected && process.send!(message, () => undefined))
  function stopNow(): void {
    stopping = true
    for (const stop of stops.splice(0)) stop()
  }
  process.on('disconnect', stopNow)
  process.on('message', (message: ToHttpProcess) => {
    if (message.kind === 'notification') for (const listener of listeners) listener(message.topic)
    else if (message.kind === 'metrics') send({ kind: 'metrics', id: message.id, families: families() })
    else if (message.kind === 'total') totals.resolve(message.id, message.text)
    else if (message.kind === 'stop') stopNow()
  })

  return {
    ready: (listening) => send({ kind: 'ready', ...listening }),
    notifications: {
      send: (topic) => send({ kind: 'notification', topic }),
      onReceived: (listener) => void listeners.push(listener),
    },
    totalText: () => totals.request((id) => send({ kind: 'total', id })),
    reportMetrics(report) {
      families = report
    },
    onStop(stop) {
      stops.push(stop)
      if (stopping) stopNow()
    },
  }
}
