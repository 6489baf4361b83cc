import type { Clock } from '../clock.ts'
import { EXIT, StartFailure } from '../start-failure.ts'
import type { Tracer } from '../tracing.ts'
import { type Database, type NotificationRelay, StoreUnavailable } from './database.ts'
import { openSqlite } from './sqlite/open.ts'
import { queryRecorder, withTracing } from './tracing.ts'

interface Where {
  readonly url: string | undefined
  readonly pool: number
  readonly folder: string
  /** Opens the store without creating its folder or changing the mode of a file. */
  readonly inspect?: boolean
}

interface Deps {
  readonly clock: Clock
  /** Reaches the other processes of this service; not required with PostgreSQL. */
  readonly notifications?: NotificationRelay | undefined
  readonly tracer?: Tracer | undefined
}

const TRIES = 5
const PAUSE_MS = 2_000

/** Opens the configured store. Fails with one line that gives the reason. */
export async function openDatabase({ tracer, ...deps }: Deps, where: Where): Promise<Database> {
  const onQuery = tracer && queryRecorder(tracer, where.url === undefined ? 'sqlite' : 'postgres')
  const db = await openEngine({ ...deps, onQuery }, where)
  return tracer ? withTracing(db, tracer) : db
}

type EngineDeps = Parameters<typeof openSqlite>[0]

async function openEngine(deps: EngineDeps, where: Where): Promise<Database> {
  if (where.url === undefined) return openSqlite(deps, where)
  // Loaded on demand, to save the memory of the driver on SQLite.
  const { openPostgres } = await import('./postgres/open.ts')
  const db = await openPostgres(where.url, where.pool, deps.onQuery)
  try {
    await waitUntilReachable(deps.clock, db)
  } catch (error) {
    await db.close().catch(() => undefined)
    throw toStartFailure(db.label, error)
  }
  return db
}

/** Retries, because after a power cut the database may start at the same time as Jeton. */
async function waitUntilReachable(clock: Clock, db: Database): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      if (db.engine === 'postgres') await db.withConnection((connection) => connection.query('select 1'))
      return
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || attempt === TRIES || reasonOf(error)) throw error
      await clock.sleep(PAUSE_MS)
    }
  }
}

/** SQLSTATEs that an operator can fix. */
const REASONS: Record<string, string> = {
  '28P01': 'it refused the user or the password',
  '28000': 'it refused the user',
  '3D000': 'there is no such database',
}

/** Returns undefined if waiting may help. After the start the same errors count as an outage. */
const reasonOf = (error: unknown): string | undefined =>
  REASONS[String(((error as Error).cause as { code?: unknown } | undefined)?.code)]

function toStartFailure(label: string, error: unknown): unknown {
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
