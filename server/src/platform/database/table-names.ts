import { sql } from 'kysely'
import type { Reader } from './database.ts'

/** Names of the tables in our schema. Other programs may use other schemas of the same PostgreSQL database. */
export async function tableNames(reader: Reader): Promise<Set<string>> {
  const kysely = reader.read<never>()
  const tables = await kysely.introspection.getTables()
  const isPostgres = tables.some(({ schema }) => schema !== undefined)
  if (!isPostgres) return new Set(tables.map(({ name }) => name))
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(kysely as never)
  return new Set(tables.filter(({ schema }) => schema === rows[0]!.schema).map(({ name }) => name))
}
