import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { Kysely, SqliteDialect } from 'kysely'
import { MIGRATIONS } from '../src/app/migrations/index.ts'
import { systemClock } from '../src/platform/clock.ts'
import { migrate, openDatabase, type Reader, type Transaction } from '../src/platform/database/index.ts'
import { newFolder } from './command-line.ts'

/**
 * How SQLite finds what is asked for, with a million rows as with ten: it goes by the statement and the indexes, since
 * nobody counts rows for it.
 */
export interface Explained {
  readonly database: DatabaseSync
  readonly reader: Reader & { readonly engine: 'sqlite' }
  readonly tx: Transaction
  /** Every table access of the work, each once. The result of a subquery is not a table. */
  planOf(work: () => Promise<unknown>): Promise<string[]>
}

/** A store with all tables, in which everything that is run is explained as well. */
export async function openExplained(): Promise<Explained> {
  const folder = newFolder('plans')
  const db = await openDatabase({ clock: systemClock }, { url: undefined, pool: 2, folder })
  await migrate(db, { migrations: MIGRATIONS, program: '0.1.0' })
  await db.close()
  const database = new DatabaseSync(`${folder}/jeton.db`)
  const plans: string[] = []
  const kysely = new Kysely<never>({
    dialect: new SqliteDialect({ database: explaining(database, plans) }),
  })
  const same = (query: unknown) => query
  return {
    database,
    reader: { read: () => kysely, engine: 'sqlite' } as never as Explained['reader'],
    tx: { read: () => kysely, write: () => kysely, lock: same, claim: same } as never as Transaction,
    async planOf(work) {
      plans.length = 0
      await work()
      return [...new Set(plans.filter((step) => /^(SEARCH|SCAN) (?!counted)/.test(step)))]
    },
  }
}

/** As Kysely wants a database. */
const explaining = (database: DatabaseSync, plans: string[]) => ({
  prepare(sql: string) {
    const explain = database.prepare(`explain query plan ${sql}`)
    const statement = database.prepare(sql)
    const run = (values: readonly unknown[]) => {
      const steps = explain.all(...(values as SQLInputValue[])) as { detail: string }[]
      plans.push(...steps.map(({ detail }) => detail))
      return statement.all(...(values as SQLInputValue[]))
    }
    return {
      reader: true,
      all: run,
      run: () => undefined as never,
      iterate: () => [][Symbol.iterator]() as never,
    }
  },
  close: () => undefined,
})
