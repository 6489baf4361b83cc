import { sql } from 'kysely'
import {
  type Database,
  type Migration,
  migrate,
  type Reader,
  type Transaction,
} from '../src/platform/database/index.ts'

/** A table with one column of every type that the stores use, for tests of the database itself. */
export interface Tables {
  things: { id: string; n: number; bytes: Uint8Array | null }
}

export const THINGS: Migration = {
  name: '0001-things',
  async up(schema, types) {
    await schema.schema
      .createTable('things')
      .addColumn('id', 'text', (c) => c.primaryKey().notNull())
      .addColumn('n', 'bigint', (c) => c.notNull())
      .addColumn('bytes', sql.raw(types.bytes))
      .execute()
  },
}

export async function prepareThings<Any extends Database>(db: Any): Promise<Any> {
  await migrate(db, { migrations: [THINGS], program: '1.0.0' })
  return db
}

export const rowsOf = (tx: Transaction) =>
  tx.write<Tables>().selectFrom('things').select(['id', 'n']).orderBy('id')

export const insert = (tx: Transaction, id: string, n = 0) =>
  tx.write<Tables>().insertInto('things').values({ id, n, bytes: null }).execute()

export async function idsIn(reader: Reader): Promise<string[]> {
  const rows = await reader.read<Tables>().selectFrom('things').select('id').orderBy('id').execute()
  return rows.map((row) => row.id)
}

/** A promise that the test resolves, to control how two transactions interleave. */
export function gate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}

export const fail = (error: string | Error): never => {
  throw typeof error === 'string' ? new Error(error) : error
}
