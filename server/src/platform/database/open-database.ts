import type { Clock } from '../clock.ts'
import { EXIT, StartFailure } from '../start-failure.ts'
import { type Database, StoreUnavailable, type WakeRelay } from './database.ts'
import { openSqlite } from './sqlite/open.ts'

interface Where {
  readonly url: string | undefined
  readonly pool: number
  readonly folder: string
  /** Opened to be looked at: no folder is made, and no mode of a file is changed. */
  readonly inspect?: boolean
}

interface Deps {
  readonly clock: Clock
  /** To the other processes of this service; PostgreSQL needs none. */
  readonly wakes?: WakeRelay | undefined
}

const TRIES = 5
const PAUSE_MS = 2_000

/** Opens the store that the settings name, or says in one line why it cannot be had. */
export async function openDatabase(deps: Deps, where: Where): Promise<Database> {
  if (where.url === undefined) return openSqlite(deps, where)
  // Loaded only where it is used: the driver is 10 MB that an embedded store does not need.
  const { openPostgres } = await import('./postgres/open-postgres.ts')
  const db = await openPostgres(where.url, where.pool)
  try {
    await reach(deps.clock, db)
  } catch (error) {
    await db.close().catch(() => undefined)
    throw refusal(db.label, error)
  }
  return db
}

/** A database that is just starting (both after a power cut, say) is worth a few tries. */
async function reach(clock: Clock, db: Database): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      if (db.engine === 'postgres') await db.runSql((connection) => connection.send('select 1'))
      return
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || attempt === TRIES || reasonOf(error)) throw error
      await clock.sleep(PAUSE_MS)
    }
  }
}

/** SQLSTATE of what an operator can mend. */
const REASONS: Record<string, string> = {
  '28P01': 'it refused the user or the password',
  '28000': 'it refused the user',
  '3D000': 'there is no such database',
}

/** Undefined where time may mend it. While it serves, the same errors are an outage like any other. */
const reasonOf = (error: unknown): string | undefined =>
  REASONS[String(((error as Error).cause as { code?: unknown } | undefined)?.code)]

function refusal(label: string, error: unknown): unknown {
  const reason = reasonOf(error)
  if (reason) return new StartFailure(`${label}: ${reason}. Check JETON_DATABASE_URL.`)
  if (!(error instanceof StoreUnavailable)) return error
  const seconds = ((TRIES - 1) * PAUSE_MS) / 1000
  const cause = error.message.replace(/^PostgreSQL: /, '')
  return new StartFailure(
    `Cannot reach ${label}: ${cause} (tried ${TRIES} times in ${seconds} s). Check JETON_DATABASE_URL.`,
    EXIT.tryAgain,
  )
}
