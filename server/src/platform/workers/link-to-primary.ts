import type { Clock } from '../clock.ts'
import type { Family } from '../metric-families.ts'
import type { FromWorker, Listening, ToWorker } from './messages.ts'
import { Questions } from './questions.ts'
import { takeMark } from './worker-mark.ts'

/** More than the primary gives the workers to answer it. */
const TOTAL_WITHIN_MS = 3_000

/** A worker's line to the primary, and through it to the other workers. */
export interface PrimaryLink {
  /** From now on requests may come. */
  ready(listening: Listening): void
  /** Wake-ups of the store, to and from the other workers. */
  readonly notifications: { send(topic: string): void; onReceived(heard: (topic: string) => void): void }
  /** Metrics of all processes of the service together; undefined where the primary does not answer. */
  totalText(): Promise<string | undefined>
  /** How the primary learns what this process has counted. */
  countWith(families: () => readonly Family[]): void
  /** Calls back when the primary says so, or is gone: without it nobody would replace or stop this process. */
  onStop(stop: () => void): void
}

/** The line, where this process was started by a primary. */
export function linkToPrimary(clock: Clock): PrimaryLink | undefined {
  if (!takeMark()) return undefined
  const totals = new Questions<string>(clock, TOTAL_WITHIN_MS)
  const heards: ((topic: string) => void)[] = []
  const stops: (() => void)[] = []
  let families: () => readonly Family[] = () => []
  let stopping = false

  // Without a channel there is nobody to tell; that it is gone is heard below.
  const tell = (message: FromWorker) => void (process.connected && process.send!(message, () => undefined))
  function stopNow(): void {
    stopping = true
    for (const stop of stops.splice(0)) stop()
  }
  function hear(message: ToWorker): void {
    switch (message.kind) {
      case 'wake':
        for (const heard of heards) heard(message.topic)
        return
      case 'metrics':
        tell({ kind: 'metrics', id: message.id, families: families() })
        return
      case 'total':
        totals.answer(message.id, message.text)
        return
      case 'stop':
        stopNow()
    }
  }
  process.on('message', hear)
  process.on('disconnect', stopNow)

  return {
    ready: (listening) => tell({ kind: 'ready', ...listening }),
    notifications: {
      send: (topic) => tell({ kind: 'wake', topic }),
      onReceived: (heard) => void heards.push(heard),
    },
    totalText: () => totals.ask((id) => tell({ kind: 'total', id })),
    countWith(count) {
      families = count
    },
    onStop(stop) {
      stops.push(stop)
      if (stopping) stopNow()
    },
  }
}
