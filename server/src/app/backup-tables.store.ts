import { DatabaseSync } from 'node:sqlite'
import { Kysely, SqliteDialect, sql } from 'kysely'
import {
  MIGRATION_TABLES,
  type Migration,
  type Reader,
  type Transaction,
  tableNames,
} from '../platform/database/index.ts'

/** The three types of columns, under one name for both engines. */
export type ColumnType = 'text' | 'bigint' | 'bytes'

export interface Column {
  readonly name: string
  readonly type: ColumnType
}

export interface Table {
  readonly name: string
  readonly columns: readonly Column[]
  /** Names of the columns of the primary key, in its order. */
  readonly key: readonly string[]
}

/** In the order of the columns. Bytes are a Uint8Array. */
export type Row = readonly (string | number | Uint8Array | null)[]

const TYPES: Readonly<Record<string, ColumnType>> = { text: 'text', bigint: 'bigint', blob: 'bytes' }

/** An empty database in memory. */
function inMemory(): Kysely<never> {
  const database = new DatabaseSync(':memory:')
  const prepare = (text: string) => {
    const statement = database.prepare(text)
    return {
      reader: statement.columns().length > 0,
      all: (parameters: readonly never[]) => statement.all(...parameters),
      run: (parameters: readonly never[]) => statement.run(...parameters),
    }
  }
  return new Kysely<never>({
    dialect: new SqliteDialect({ database: { prepare, close: () => database.close() } as never }),
  })
}

/**
 * Returns the tables that these migrations create. The migrations run in memory, so that nobody maintains a list, and tables
 * of other programs in the same PostgreSQL are ignored.
 */
export async function tablesOf(migrations: readonly Migration[]): Promise<Table[]> {
  const kysely = inMemory()
  try {
    for (const migration of migrations) await migration.up(kysely as never, { bytes: 'blob' })
    const { rows } = await sql<{ name: string }>`select name from sqlite_master
      where type = 'table' and name not like 'sqlite_%' order by name`.execute(kysely)
    return await Promise.all(rows.map(({ name }) => describeTable(kysely, name)))
  } finally {
    await kysely.destroy()
  }
}

async function describeTable(kysely: Kysely<never>, name: string): Promise<Table> {
  const { rows } = await sql<{ name: string; type: string; pk: number }>`
    select name, lower(type) as type, pk from pragma_table_info(${name}) order by cid`.execute(kysely)
  const key = rows.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
  if (key.length === 0) throw new Error(`${name} has no primary key, so it cannot be read page by page`)
  return { name, columns: rows.map((row) => columnOf(name, row)), key: key.map((column) => column.name) }
}

function columnOf(table: string, { name, type }: { name: string; type: string }): Column {
  const known = TYPES[type]
  if (!known) throw new Error(`${table}.${name} is ${type}; columns are text, bigint or bytes`)
  return { name, type: known }
}

const list = (names: readonly string[]) => sql.join(names.map((name) => sql.ref(name)))

/** Reads page by page in key order, with one page in memory. */
export async function* readTable(
  reader: Reader,
  { name, columns, key }: Table,
  pageRows: number,
): AsyncGenerator<Row[]> {
  const positions = key.map((column) => columns.findIndex((one) => one.name === column))
  const names = columns.map((column) => column.name)
  let after: Row | undefined
  for (;;) {
    const from = after
      ? sql`where (${list(key)}) > (${sql.join(positions.map((position) => after![position]))})`
      : sql``
    const { rows } = await sql<
      Record<string, Row[number]>
    >`select ${list(names)} from ${sql.table(name)} ${from}
      order by ${list(key)} limit ${sql.lit(pageRows)}`.execute(reader.read<never>() as never)
    const page = rows.map((row) => names.map((column) => row[column]!))
    if (page.length > 0) yield page
    if (page.length < pageRows) return
    after = page.at(-1)
  }
}

export async function insertRows(
  tx: Transaction,
  { name, columns }: Table,
  rows: readonly Row[],
): Promise<void> {
  if (rows.length === 0) return
  const values = rows.map((row) => sql`(${sql.join(row)})`)
  await sql`insert into ${sql.table(name)} (${list(columns.map((column) => column.name))})
    values ${sql.join(values)}`.execute(tx.write<never>())
}

/** Names of the tables that have rows. */
export async function filledTables(reader: Reader, tables: readonly Table[]): Promise<string[]> {
  const there = await tableNames(reader)
  const filled: string[] = []
  for (const { name } of tables) {
    if (!there.has(name)) continue
    const { rows } = await sql`select 1 from ${sql.table(name)} limit 1`.execute(
      reader.read<never>() as never,
    )
    if (rows.length > 0) filled.push(name)
  }
  return filled
}

/** Drops all tables of Jeton, including the list of applied migrations. */
export async function dropTables(tx: Transaction, tables: readonly Table[]): Promise<void> {
  const kysely = tx.write<never>()
  for (const name of [...tables.map((table) => table.name), ...MIGRATION_TABLES])
    await sql`drop table if exists ${sql.table(name)}`.execute(kysely)
}
