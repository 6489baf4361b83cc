import type { Database } from '../../platform/database/index.ts'
import { isoTimeOrNull } from '../../platform/http/index.ts'
import { type DestinationUse, destinationUse } from '../usage/index.ts'
import type { DestinationRow } from '../webhooks/index.ts'
import { lastErrorsOf, readBacklogs } from './health.store.ts'

const DAY_MS = 24 * 60 * 60_000

type State = 'healthy' | 'failing' | 'disabled' | 'idle'

function stateOf(row: DestinationRow, isUsed: boolean): State {
  if (row.active === 0) return 'disabled'
  if (row.failing_since !== null) return 'failing'
  return isUsed ? 'healthy' : 'idle'
}

const NO_USE: DestinationUse = { attempts: 0, failed: 0, p95Ms: null }

/** How these destinations of one project are doing, by their id. */
export async function readHealth(db: Database, rows: readonly DestinationRow[], now: number) {
  const ids = rows.map(({ id }) => id)
  const [first] = rows
  if (!first) return new Map<string, never>()
  const backlogs = new Map((await readBacklogs(db, rows, now)).map((row) => [row.id, row]))
  const uses = await destinationUse(db, { projectId: first.project_id, ids, from: now - DAY_MS, to: now })
  const isInTrouble = (row: DestinationRow) =>
    row.failing_since !== null || row.active === 0 || (backlogs.get(row.id)?.exhausted ?? 0) > 0
  const errors = await lastErrorsOf(db, rows.filter(isInTrouble))
  const entries = rows.map((row) => {
    const { pending = 0, exhausted = 0, oldest_due_at = null } = backlogs.get(row.id) ?? {}
    const use = uses.get(row.id) ?? NO_USE
    const isActive = row.active === 1
    const health = {
      state: stateOf(row, use.attempts + pending > 0),
      failing_since: isoTimeOrNull(row.failing_since),
      success_rate_24h: use.attempts === 0 ? null : (use.attempts - use.failed) / use.attempts,
      p95_ms_24h: use.p95Ms,
      oldest_due_at: isoTimeOrNull(isActive ? oldest_due_at : null),
      pending: isActive ? pending : 0,
      held: isActive ? 0 : pending,
      exhausted,
      last_error: errors.get(row.id) ?? null,
    }
    return [row.id, health] as const
  })
  return new Map(entries)
}
