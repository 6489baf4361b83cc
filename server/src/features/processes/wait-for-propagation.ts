import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { listProcesses } from './process.store.ts'
import { MAY_ANSWER_FOR_MS } from './process.ts'

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
}

interface Deps {
  readonly db: Database
  readonly clock: Clock
  /** The id of this process, which applies its own changes before it answers. */
  readonly ownId: string
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
  { db, clock, ownId }: Deps,
  { version, waitMs, signal }: Wait,
): Promise<Propagation> {
  const began = clock.monotonic()
  for (let pauseMs = FIRST_READ_MS; ; pauseMs = Math.min(2 * pauseMs, READ_EVERY_MS)) {
    const seen = await countConfirmed({ db, ownId }, version)
    const afterMs = clock.monotonic() - began
    const isOver = seen.confirmed === seen.processes || afterMs >= waitMs || signal.aborted
    if (isOver) return { ...seen, after_ms: Math.round(afterMs) }
    await clock.sleep(Math.min(pauseMs, waitMs - afterMs), signal)
  }
}

/** A poll that read this version when it started has read the change, since versions are given in the order of commits. */
async function countConfirmed({ db, ownId }: Pick<Deps, 'db' | 'ownId'>, version: number) {
  const rows = await listProcesses(db, { now: await db.now(), withinMs: MAY_ANSWER_FOR_MS })
  const others = rows.filter(({ id, role }) => id !== ownId && role !== 'worker')
  const confirmed = others.filter((row) => (row.key_state_version ?? -1) >= version)
  return { processes: others.length + 1, confirmed: confirmed.length + 1 }
}
