import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { listProcesses } from './process.store.ts'
import { MAY_ANSWER_FOR_MS, type ProcessRow } from './process.ts'

const FIRST_READ_MS = 20
const READ_EVERY_MS = 100

/** How far a change of an API key has spread. */
export interface Propagation {
  /** Processes that answer requests. */
  readonly processes: number
  /** Those that apply the change. */
  readonly confirmed: number
  /** How long the answer waited. */
  readonly after_ms: number
  readonly by_process: ProcessPropagation[]
}

interface ProcessPropagation {
  readonly id: string
  readonly host: string
  readonly pid: number
  /** When it was first seen to apply the change; null if it was not. */
  readonly after_ms: number | null
}

interface Deps {
  readonly db: Database
  readonly clock: Clock
  /** This process, which applies its own changes before it answers. */
  readonly own: Pick<ProcessPropagation, 'id' | 'host' | 'pid'>
}

interface Wait {
  /** The key-state version that the change was given. */
  readonly version: number
  readonly waitMs: number
  /** Ends the wait early: the client has gone, or the process shuts down. */
  readonly signal: AbortSignal
}

/** Returns once every process has confirmed the change, or when the time is over. It polls: the others are elsewhere. */
export async function waitForPropagation(
  { db, clock, own }: Deps,
  { version, waitMs, signal }: Wait,
): Promise<Propagation> {
  const began = clock.monotonic()
  const confirmedAfter = new Map<string, number>()
  for (let pauseMs = FIRST_READ_MS; ; pauseMs = Math.min(2 * pauseMs, READ_EVERY_MS)) {
    const others = await readOthers({ db, own })
    const afterMs = clock.monotonic() - began
    for (const row of others)
      if (isConfirmed(row, version) && !confirmedAfter.has(row.id))
        confirmedAfter.set(row.id, Math.round(afterMs))
    const waiting = others.filter((row) => !isConfirmed(row, version))
    if (waiting.length === 0 || afterMs >= waitMs || signal.aborted)
      return {
        processes: others.length + 1,
        confirmed: others.length + 1 - waiting.length,
        after_ms: Math.round(afterMs),
        by_process: [
          { ...own, after_ms: 0 },
          ...others.map((row) => ({
            id: row.id,
            host: row.host,
            pid: row.pid,
            after_ms: isConfirmed(row, version) ? confirmedAfter.get(row.id)! : null,
          })),
        ],
      }
    await clock.sleep(Math.min(pauseMs, waitMs - afterMs), signal)
  }
}

/** A poll that read this version when it started has read the change, since versions are given in the order of commits. */
const isConfirmed = (row: ProcessRow, version: number): boolean => (row.key_state_version ?? -1) >= version

async function readOthers({ db, own }: Pick<Deps, 'db' | 'own'>): Promise<ProcessRow[]> {
  const rows = await listProcesses(db, { now: await db.now(), withinMs: MAY_ANSWER_FOR_MS })
  return rows.filter(({ id, role }) => id !== own.id && role !== 'worker')
}
