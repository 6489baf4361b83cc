import { MIGRATIONS } from '../app/migrations/index.ts'
import { planOf } from '../app/plan-migrations.ts'
import { VERSION } from '../app/version.ts'
import { systemClock } from '../platform/clock.ts'
import { type Config, readConfig } from '../platform/config/index.ts'
import {
  type Database,
  type MigrationReport,
  migrate,
  openDatabase,
  sqliteFile as sqliteFileIn,
  sqliteFileState,
} from '../platform/database/index.ts'
import { CommandFailure, EXIT } from './exit.ts'
import { type Io, printLine } from './io.ts'
import { explainStop, showProgress } from './progress.ts'

export const sqliteFile = (config: Config): string => sqliteFileIn(config.JETON_DATA_DIR)

/** False if SQLite has no file, or an empty one: opening it would create a store. */
export const storeExists = (config: Config): boolean =>
  config.JETON_DATABASE_URL !== undefined ||
  !['none', 'empty'].includes(sqliteFileState(config.JETON_DATA_DIR))

export const noStore = (config: Config): CommandFailure =>
  new CommandFailure(`There is no store at ${sqliteFile(config)}. Check JETON_DATA_DIR.`, EXIT.configuration)

const open = (config: Config, { inspect }: { inspect: boolean }): Promise<Database> =>
  openDatabase(
    { clock: systemClock },
    {
      url: config.JETON_DATABASE_URL,
      pool: config.JETON_DATABASE_POOL,
      folder: config.JETON_DATA_DIR,
      inspect,
    },
  )

/** Opens a store read-only for inspection: not even its file mode is changed. */
export const openExisting = (config: Config): Promise<Database> => open(config, { inspect: true })

export const planForNew = (): MigrationReport => ({
  applied: MIGRATIONS.map(({ name }) => name),
  total: MIGRATIONS.length,
})

interface Outcome extends MigrationReport {
  readonly store: string
}

export async function migrateStore(io: Io, options: { plan?: boolean; json?: boolean }): Promise<void> {
  const config = readConfig(io.env)
  const outcome = options.plan ? await plan(config) : await apply(io, config)
  if (options.json) return printLine(io, JSON.stringify({ ...outcome, planned: options.plan === true }))
  const { store, applied, total } = outcome
  if (applied.length === 0) return printLine(io, `${store} is up to date (${total} migrations).`)
  printLine(
    io,
    `${store}: ${options.plan ? 'would apply' : 'applied'} ${applied.length} of ${total} migrations`,
  )
  if (options.plan) for (const name of applied) printLine(io, `  ${name}`)
}

/** Prints a line per migration, on stderr. */
async function apply(io: Io, config: Config): Promise<Outcome> {
  const db = await open(config, { inspect: false })
  const { stopped } = io.goLive()
  const progress = showProgress(io)
  try {
    const options = { migrations: MIGRATIONS, program: VERSION, progress, signal: stopped }
    return { ...(await migrate(db, options)), store: db.label }
  } catch (error) {
    progress.fail()
    throw explainStop(error, stopped, STOPPED)
  } finally {
    await db.close()
  }
}

const STOPPED =
  'Stopped. The migrations were rolled back, and nothing was changed. To apply them: jeton migrate'

async function plan(config: Config): Promise<Outcome> {
  if (!storeExists(config))
    return { ...planForNew(), store: `SQLite ${sqliteFile(config)} (does not exist yet)` }
  const db = await openExisting(config)
  try {
    return { ...(await planOf(db)), store: db.label }
  } finally {
    await db.close()
  }
}
