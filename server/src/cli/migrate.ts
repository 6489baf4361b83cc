import { openStore } from '../app/compose.ts'
import { systemClock } from '../platform/clock.ts'
import { type Config, readConfig } from '../platform/config/index.ts'
import type { MigrationReport } from '../platform/database/index.ts'
import { type Io, printLine } from './io.ts'
import { openExisting, planForNew, planOf, sqliteFile, storeExists } from './store.ts'

interface Outcome extends MigrationReport {
  readonly store: string
}

export async function migrateStore(io: Io, options: { plan?: boolean; json?: boolean }): Promise<void> {
  const config = readConfig(io.env)
  const outcome = options.plan ? await plan(config) : await apply(config)
  if (options.json) return printLine(io, JSON.stringify({ ...outcome, planned: options.plan === true }))
  const { store, applied, total } = outcome
  if (applied.length === 0) return printLine(io, `${store} is up to date; migrations: ${total}.`)
  printLine(io, `${store}: ${options.plan ? 'to apply' : 'applied'}, ${applied.length} of ${total}`)
  for (const name of applied) printLine(io, `  ${name}`)
}

async function apply(config: Config): Promise<Outcome> {
  const { db, migrations } = await openStore({ config, clock: systemClock })
  await db.close()
  return { ...migrations, store: db.label }
}

async function plan(config: Config): Promise<Outcome> {
  if (!storeExists(config)) return { ...planForNew(), store: `SQLite ${sqliteFile(config)} (not there yet)` }
  const db = await openExisting(config)
  try {
    return { ...(await planOf(db)), store: db.label }
  } finally {
    await db.close()
  }
}
