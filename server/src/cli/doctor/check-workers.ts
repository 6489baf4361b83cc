import { availableParallelism } from 'node:os'
import type { Config } from '../../platform/config/index.ts'
import type { PostgresDatabase } from '../../platform/database/index.ts'
import { type Finding, failed, warning, well } from './check.ts'

export function checkWorkers(config: Config, processors = availableParallelism()): Finding {
  const { JETON_WORKERS: workers, JETON_DATABASE_URL: postgres } = config
  if (workers > processors)
    return warning(
      'workers',
      `${workers} processes, but only ${processors} processor${processors === 1 ? '' : 's'} for them`,
      `JETON_WORKERS=${processors}`,
    )
  if (workers > 1) return well('workers', `${workers} processes on one port, ${processors} processors`)
  // SQLite has one writer, and it is for one process.
  const more =
    postgres !== undefined && processors > 1
      ? `; JETON_WORKERS=${processors} would use all ${processors} processors`
      : ''
  return well('workers', `one process${more}`)
}

/** Each process has its pool and one connection that listens. */
const connectionsOf = ({ JETON_WORKERS, JETON_DATABASE_POOL }: Config): number =>
  JETON_WORKERS * (JETON_DATABASE_POOL + 1)

/** Once PostgreSQL has no connection left, some worker answers 503 while the others do not: hard to find out then. */
export async function checkConnections(config: Config, db: PostgresDatabase): Promise<Finding> {
  const allowed = await db.withConnection(async (pg) => {
    const [row] = await pg.query<{ allowed: number }>(
      `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as allowed`,
    )
    return Number(row!.allowed)
  })
  const most = connectionsOf(config)
  if (most <= allowed)
    return well('connections', `at most ${most} of the ${allowed} that PostgreSQL has for everyone`)
  const pool = Math.floor(allowed / config.JETON_WORKERS) - 1
  return failed(
    'connections',
    `this service may open ${most}, and PostgreSQL has ${allowed} for everyone`,
    pool >= 2
      ? `JETON_DATABASE_POOL=${pool} or less, or raise max_connections`
      : 'fewer JETON_WORKERS, or raise max_connections',
  )
}
