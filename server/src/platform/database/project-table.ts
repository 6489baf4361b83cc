import type { Kysely, SelectQueryBuilder } from 'kysely'
import { compiledQuery } from './compiled-query.ts'
import { countUpTo } from './count.ts'
import type { Reader, Transaction } from './database.ts'
import { type KeysetRange, onPage, withinTimes } from './keyset.ts'

/** Columns that these queries use. Tables have more. */
interface ProjectOwned {
  project_id: string
  id: string
  created_at: number
}

interface Tables {
  rows: ProjectOwned
}

interface Page {
  readonly limit: number
  readonly offset: number
}

/** Returns a page of a list, newest first, and the number of rows. One extra row indicates another page. */
export async function pageOf<DB, Table extends keyof DB>(
  reader: Reader,
  query: SelectQueryBuilder<DB, Table, object>,
  { limit, offset }: Page,
): Promise<{ rows: DB[Table][]; total: number }> {
  const total = await countUpTo(reader, query)
  const rows = await (query as unknown as SelectQueryBuilder<Tables, 'rows', object>)
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .offset(offset)
    .execute()
  return { rows: rows as DB[Table][], total }
}

/** The same for a list that takes a cursor, `from` and `to`. */
export async function cursorPageOf<DB, Table extends keyof DB>(
  reader: Reader,
  query: SelectQueryBuilder<DB, Table, object>,
  page: Page & KeysetRange,
): Promise<{ rows: DB[Table][]; total: number }> {
  const rows = query as unknown as SelectQueryBuilder<Tables, 'rows', object>
  const total = await countUpTo(reader, rows.where(withinTimes(page, 'created_at')))
  const found = await rows
    .selectAll()
    .where(onPage(page, ['created_at', 'id']))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .offset(page.offset)
    .execute()
  return { rows: found as DB[Table][], total }
}

/** Common queries of tables whose rows belong to a project and have an id. */
export function projectTable<Row extends ProjectOwned>(table: string) {
  const name = table as 'rows'
  const inProject = (reader: Reader, projectId: string) =>
    reader.read<Tables>().selectFrom(name).where('project_id', '=', projectId)
  const byId = (reader: Reader, projectId: string, id: string) =>
    inProject(reader, projectId).selectAll().where('id', '=', id)
  const selectById = compiledQuery((db: Kysely<Tables>, { projectId, id }: Record<string, string>) =>
    db.selectFrom(name).selectAll().where('project_id', '=', projectId!).where('id', '=', id!),
  )

  return {
    find: async (reader: Reader, projectId: string, id: string) =>
      (await selectById(reader, { projectId, id })).rows[0] as Row | undefined,

    /** Finds a row by its id, then by another unique column. */
    findByIdOr(column: keyof Row) {
      const select = compiledQuery((db: Kysely<Tables>, { projectId, value }: Record<string, string>) =>
        db
          .selectFrom(name)
          .selectAll()
          .where('project_id', '=', projectId!)
          .where((eb) => eb.or([eb('id', '=', value!), eb(column as 'id', '=', value!)])),
      )
      return async (reader: Reader, projectId: string, value: string): Promise<Row | undefined> => {
        const rows = (await select(reader, { projectId, value })).rows as Row[]
        return rows.find((row) => row.id === value) ?? rows[0]
      }
    },

    lock: (tx: Transaction, projectId: string, id: string) =>
      tx.lock(byId(tx, projectId, id)).executeTakeFirst() as Promise<Row | undefined>,

    /** Lists rows, newest first, filtered by equality. */
    async list(reader: Reader, projectId: string, page: Page, filter: Partial<Row> = {}) {
      let query = inProject(reader, projectId)
      for (const [column, value] of Object.entries(filter))
        if (value !== undefined) query = query.where(column as 'id', '=', value as string)
      return (await pageOf(reader, query, page)) as { rows: Row[]; total: number }
    },

    /** Returns false if a unique value is taken. */
    async insert(tx: Transaction, row: Row): Promise<boolean> {
      const { numInsertedOrUpdatedRows } = await tx
        .write<Tables>()
        .insertInto(name)
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst()
      return numInsertedOrUpdatedRows === 1n
    },

    async update(tx: Transaction, { project_id, id }: Row, change: Partial<Row>): Promise<void> {
      await tx
        .write<Tables>()
        .updateTable(name)
        .set(change as Partial<ProjectOwned>)
        .where('project_id', '=', project_id)
        .where('id', '=', id)
        .execute()
    },

    async delete(tx: Transaction, { project_id, id }: Row): Promise<void> {
      await tx
        .write<Tables>()
        .deleteFrom(name)
        .where('project_id', '=', project_id)
        .where('id', '=', id)
        .execute()
    },
  }
}
