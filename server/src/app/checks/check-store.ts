import { availableParallelism } from 'node:os'
import { listOperatorNames } from '../../features/operators/index.ts'
import { hasProjectNamed } from '../../features/projects/index.ts'
import { listNeededKeyIds } from '../../features/webhooks/index.ts'
import type { Config } from '../../platform/config/index.ts'
import { type Database, type PostgresDatabase, storeVersion } from '../../platform/database/index.ts'
import { SAMPLE_PROJECT } from '../first-start.ts'
import { planOf } from '../plan-migrations.ts'
import { type Finding, failed, ok, warning } from './finding.ts'

export interface StoreExamined {
  readonly findings: readonly Finding[]
  /** Whether there is a store that can be read. */
  readonly isSeen: boolean
  /** Names of the operators; empty if the store cannot be read. */
  readonly operators: readonly string[]
  /** Whether the sample project exists. */
  readonly hasSample: boolean
  /** Ids of the encryption keys that stored secrets require; undefined if the store cannot be read. */
  readonly neededKeys: readonly string[] | undefined
}

const OLDEST_POSTGRES = 15
/** Tokens expire by the clock of the store; with a larger skew, times in responses and logs are misleading. */
const MAX_CLOCK_SKEW_MS = 2_000
/** Before the first release, so an earlier clock is wrong. */
const EARLIEST_TIME = Date.UTC(2026, 0, 1)

/** Checks a store that is open. Throws if it does not answer. */
export async function examineStore(config: Config, db: Database, now: () => number): Promise<StoreExamined> {
  const { applied, total } = await planOf(db)
  const version = await storeVersion(db)
  const name = `${db.label} (version ${version})`
  const tooOld = db.engine === 'postgres' && Number.parseInt(version, 10) < OLDEST_POSTGRES
  const findings = [
    tooOld
      ? failed('store', `${name} is too old`, `use PostgreSQL ${OLDEST_POSTGRES} or newer`)
      : ok('store', `${name}, reachable`),
    applied.length > 0
      ? failed(
          'migrations',
          `${applied.length} of ${total} are pending`,
          'jeton migrate   (jeton serve does it as well)',
        )
      : ok('migrations', `up to date (${total})`),
    await clockOf(db, now),
    ...(db.engine === 'postgres' ? [await checkConnections(config, db)] : []),
  ]
  const isEmpty = applied.includes('0001-foundation')
  const operators = isEmpty ? [] : await listOperatorNames(db)
  const hasSample = !isEmpty && (await hasProjectNamed(db, SAMPLE_PROJECT))
  const neededKeys = applied.includes('0003-events') ? [] : await listNeededKeyIds(db)
  return {
    findings: [...findings, operatorFinding(config, operators.length)],
    ...{ isSeen: true, operators, hasSample, neededKeys },
  }
}

async function clockOf(db: Database, now: () => number): Promise<Finding> {
  if (db.engine === 'sqlite') return saneClock(now())
  const before = now()
  const storeNow = await db.withConnection(async (pg) =>
    Number((await pg.query('select extract(epoch from clock_timestamp()) * 1000 as now'))[0]!.now),
  )
  const apart = Math.round(storeNow - (before + now()) / 2)
  if (Math.abs(apart) <= MAX_CLOCK_SKEW_MS)
    return ok('clock', `${Math.abs(apart)} ms from the clock of the store`)
  const direction = apart > 0 ? 'behind' : 'ahead of'
  return failed(
    'clock',
    `${Math.abs(apart) / 1000} s ${direction} the clock of the store`,
    'synchronize both machines: timedatectl set-ntp true',
  )
}

export const saneClock = (now: number): Finding =>
  now > EARLIEST_TIME
    ? ok('clock', new Date(now).toISOString())
    : failed('clock', `wrong: ${new Date(now).toISOString()}`, 'timedatectl set-ntp true')

/** Result for a store that cannot be read: nothing is known, so no check passes. */
export const unseenStore = (
  findings: readonly Finding[],
  neededKeys: readonly string[] | undefined,
): StoreExamined => ({ findings, isSeen: false, operators: [], hasSample: false, neededKeys })

function operatorFinding(config: Config, count: number): Finding {
  if (config.JETON_MANAGEMENT_ID) return ok('operator', `${config.JETON_MANAGEMENT_ID}, from the settings`)
  return count > 0
    ? ok('operator', `${count} operator${count === 1 ? '' : 's'}`)
    : failed('operator', 'none', 'jeton operator create --local --save')
}

export function checkProcesses(config: Config, processors = availableParallelism()): Finding {
  const { JETON_WORKERS: workers, JETON_DATABASE_URL: postgres } = config
  if (workers > processors)
    return warning(
      'workers',
      `${workers} processes, but only ${processors} CPU${processors === 1 ? '' : 's'}`,
      `JETON_WORKERS=${processors}`,
    )
  if (workers > 1) return ok('workers', `${workers} processes on one port, ${processors} CPUs`)
  // SQLite has one writer, so more processes do not help.
  const more =
    postgres !== undefined && processors > 1
      ? `; JETON_WORKERS=${processors} would use all ${processors} CPUs`
      : ''
  return ok('workers', `one process${more}`)
}

/** Each process has a pool and one connection for notifications. */
const connectionsOf = ({ JETON_WORKERS, JETON_DATABASE_POOL }: Config): number =>
  JETON_WORKERS * (JETON_DATABASE_POOL + 1)

/** If PostgreSQL runs out of connections, some processes return 503 and others do not, which is hard to diagnose. */
export async function checkConnections(config: Config, db: PostgresDatabase): Promise<Finding> {
  const allowed = await db.withConnection(async (pg) => {
    const [row] = await pg.query<{ allowed: number }>(
      `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as allowed`,
    )
    return Number(row!.allowed)
  })
  const most = connectionsOf(config)
  if (most <= allowed) return ok('connections', `at most ${most} of the ${allowed} connections of PostgreSQL`)
  const pool = Math.floor(allowed / config.JETON_WORKERS) - 1
  return failed(
    'connections',
    `this service can open ${most} connections, and PostgreSQL allows ${allowed}`,
    pool >= 2
      ? `JETON_DATABASE_POOL=${pool} or less, or raise max_connections`
      : 'fewer JETON_WORKERS, or raise max_connections',
  )
}
