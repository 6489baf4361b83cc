import { sql } from 'kysely'
import { systemClock } from '../src/platform/clock.ts'
import { type Database, openDatabase } from '../src/platform/database/index.ts'
import type { TestStore } from './engines.ts'

/** SQLite's own largest number: as good as no limit. */
const NO_LIMIT = 1_073_741_823
/** A fault that makes the store refuse writes while it goes on answering reads. */
export interface Fault {
  readonly name: string
  readonly reason: string
  begin(store: TestStore, db: Database): Promise<void>
  /** Absent where nothing but the end of the process ends it. */
  end?(store: TestStore, db: Database): Promise<void>
}

const onWriter = (db: Database, statement: string) =>
  db.transaction((tx) => sql.raw(statement).execute(tx.write<never>() as never)).then(() => undefined)

/** New sessions obey; those that are open are ended, as after a failover. */
async function setReadOnly({ env }: TestStore, value: 'on' | 'off'): Promise<void> {
  const url = new URL(env.JETON_DATABASE_URL!)
  const name = url.pathname.slice(1)
  url.pathname = '/postgres'
  const admin = await openDatabase({ clock: systemClock }, { url: url.href, pool: 2, folder: '' })
  if (admin.engine !== 'postgres') throw new Error('not PostgreSQL')
  await admin.withConnection(async (connection) => {
    await connection.query(`alter database ${name} set default_transaction_read_only = ${value}`)
    await connection.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
  })
  await admin.close()
}

export const FAULTS: Readonly<Record<string, readonly Fault[]>> = {
  SQLite: [
    {
      name: 'a file that may not grow',
      reason: 'the disk is full',
      // SQLite takes no limit below the present size: it stays at that, and there is no free page left.
      begin: (_, db) => onWriter(db, 'pragma max_page_count = 1'),
      end: (_, db) => onWriter(db, `pragma max_page_count = ${NO_LIMIT}`),
    },
    {
      name: 'a database that takes reads only',
      reason: 'the store is read-only',
      begin: (_, db) => onWriter(db, 'pragma query_only = on'),
    },
  ],
  PostgreSQL: [
    {
      name: 'default_transaction_read_only',
      reason: 'the store is read-only',
      begin: (store) => setReadOnly(store, 'on'),
      end: (store) => setReadOnly(store, 'off'),
    },
  ],
}
