import { mayMakeFirst, SAMPLE_PROJECT } from '../../app/first-start.ts'
import { listOperatorNames } from '../../features/operators/index.ts'
import { hasProjectNamed } from '../../features/projects/index.ts'
import { listNeededKeyIds } from '../../features/webhooks/index.ts'
import type { Config } from '../../platform/config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { explainFailure } from '../exit.ts'
import { openExisting, planOf, sqliteFile, storeExists } from '../store.ts'
import { type Finding, failed, unknown, well } from './check.ts'
import { checkConnections } from './check-workers.ts'

export interface StoreExamined {
  readonly findings: readonly Finding[]
  /** Whether there is a store, and it could be read. */
  readonly isSeen: boolean
  /** Names of the operators; empty where nobody could look. */
  readonly operators: readonly string[]
  /** Whether the project of the first start is there. */
  readonly hasSample: boolean
  /** Ids of the encryption keys that stored secrets need; undefined where the store could not be read. */
  readonly neededKeys: readonly string[] | undefined
}

const OLDEST_POSTGRES = 15
/** Tokens live by whole seconds of the store's clock; beyond this, times in answers and logs mislead people. */
const CLOCK_APART_MS = 2_000
/** When this program was written: a clock before that is wrong. */
const WRITTEN_AT = Date.UTC(2026, 0, 1)

interface StoreOptions {
  readonly now: () => number
  /** Before production a store that is not there is none that could be checked: the service may have another. */
  readonly production: boolean
}

export async function checkStore(config: Config, { now, production }: StoreOptions): Promise<StoreExamined> {
  const notYet = production ? unknown : well
  if (!storeExists(config))
    return {
      findings: [
        notYet('store', `SQLite ${sqliteFile(config)} is not there yet; the first start makes it`),
        saneClock(now()),
        operatorOfNew(config, notYet),
      ],
      isSeen: false,
      operators: [],
      hasSample: false,
      neededKeys: [],
    }
  try {
    const db = await openExisting(config)
    return await examine(config, db, now).finally(() => db.close())
  } catch (error) {
    return {
      findings: [failed('store', explainFailure(error).text.split('\n', 1)[0]!, remedyFor(config))],
      isSeen: false,
      operators: [],
      hasSample: false,
      neededKeys: undefined,
    }
  }
}

const remedyFor = (config: Config): string =>
  config.JETON_DATABASE_URL
    ? 'mend JETON_DATABASE_URL, or start PostgreSQL'
    : 'mend it, or JETON_DATA_DIR=<another folder>'

async function examine(config: Config, db: Database, now: () => number): Promise<StoreExamined> {
  const { applied, total } = await planOf(db)
  const version = await versionOf(db)
  const name = `${db.label} (version ${version})`
  const tooOld = db.engine === 'postgres' && Number.parseInt(version, 10) < OLDEST_POSTGRES
  const findings = [
    tooOld
      ? failed('store', `${name} is too old`, `use PostgreSQL ${OLDEST_POSTGRES} or newer`)
      : well('store', `${name}, reachable`),
    applied.length > 0
      ? failed(
          'migrations',
          `${applied.length} of ${total} not applied yet`,
          'jeton migrate   (serve does it too)',
        )
      : well('migrations', `up to date (${total})`),
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

async function versionOf(db: Database): Promise<string> {
  if (db.engine === 'postgres')
    return db.withConnection(async (pg) => String((await pg.query('show server_version'))[0]!.server_version))
  return process.versions.sqlite!
}

async function clockOf(db: Database, now: () => number): Promise<Finding> {
  if (db.engine === 'sqlite') return saneClock(now())
  const before = now()
  const storeNow = await db.withConnection(async (pg) =>
    Number((await pg.query('select extract(epoch from clock_timestamp()) * 1000 as now'))[0]!.now),
  )
  const apart = Math.round(storeNow - (before + now()) / 2)
  if (Math.abs(apart) <= CLOCK_APART_MS) return well('clock', `${Math.abs(apart)} ms from that of the store`)
  const direction = apart > 0 ? 'behind' : 'ahead of'
  return failed(
    'clock',
    `${Math.abs(apart) / 1000} s ${direction} that of the store`,
    'synchronise both machines: timedatectl set-ntp true',
  )
}

const saneClock = (now: number): Finding =>
  now > WRITTEN_AT
    ? well('clock', new Date(now).toISOString())
    : failed('clock', `it says ${new Date(now).toISOString()}`, 'timedatectl set-ntp true')

function operatorFinding(config: Config, count: number): Finding {
  if (config.JETON_MANAGEMENT_ID) return well('operator', `${config.JETON_MANAGEMENT_ID}, from the settings`)
  return count > 0
    ? well('operator', `${count} operator${count === 1 ? '' : 's'}`)
    : failed('operator', 'there is none', 'jeton operator create --local --save')
}

function operatorOfNew(config: Config, notYet: typeof well): Finding {
  if (config.JETON_MANAGEMENT_ID) return well('operator', `${config.JETON_MANAGEMENT_ID}, from the settings`)
  if (mayMakeFirst(config)) return notYet('operator', 'the first start makes one')
  return failed('operator', 'there is none', 'jeton operator create --local --save')
}
