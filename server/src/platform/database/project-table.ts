import type { Kysely, SelectQueryBuilder } from 'kysely'
import { compiledQuery } from './compiled-query.ts'
import { countUpTo } from './count.ts'
import type { Reader, Transaction } from './database.ts'

/** The columns that these queries use; tables have more. */
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

/** A page of a list, newest first, and how many rows the list has. One extra row says that there is another page. */
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

/** The queries that tables share whose rows belong to a project and have an id. */
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

    /** By our id, else by another unique column. */
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

    /** Newest first, with the given values in these columns. */
    async list(reader: Reader, projectId: string, page: Page, filter: Partial<Row> = {}) {
      let query = inProject(reader, projectId)
      for (const [column, value] of Object.entries(filter))
        if (value !== undefined) query = query.where(column as 'id', '=', value as string)
      return (await pageOf(reader, query, page)) as { rows: Row[]; total: number }
    },

    /** False where a unique column is taken. */
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
