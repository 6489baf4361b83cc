import { sql } from 'kysely'
import { countUpTo, pageOf, type Reader, type Transaction } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'

export interface ProjectRow {
  id: string
  name: string
  token_limit: number
  /** Never more than limit − active. Issuing takes from it under the row lock, and counts tokens only when it is used up. */
  credits: number
  /** While the project is full: time before which no token expires. */
  full_until: number | null
  created_at: number
  updated_at: number
  deleted_at: number | null
}

export interface ProjectTables {
  projects: ProjectRow
}

const live = (reader: Reader) =>
  reader.read<ProjectTables>().selectFrom('projects').where('deleted_at', 'is', null)

export const findProject = (reader: Reader, id: string): Promise<ProjectRow | undefined> =>
  live(reader).selectAll().where('id', '=', id).executeTakeFirst()

/** Up to 10,000. */
export const countProjects = (reader: Reader): Promise<number> => countUpTo(reader, live(reader))

export const hasProjectNamed = async (reader: Reader, name: string): Promise<boolean> =>
  (await live(reader).select('id').where('name', '=', name).executeTakeFirst()) !== undefined

interface ProjectFilter {
  readonly name?: string | undefined
  /** Null for all projects. */
  readonly ids: readonly string[] | null
}

export async function listProjectRows(
  reader: Reader,
  page: Page,
  { name, ids }: ProjectFilter,
): Promise<Rows<ProjectRow>> {
  if (ids?.length === 0) return { rows: [], total: 0 }
  let query = live(reader)
  if (name !== undefined) query = query.where('name', '=', name)
  if (ids) query = query.where('id', 'in', ids)
  return pageOf(reader, query, page)
}

/** Projects that may have used this part of their token limit, of all or one of them. */
export const listProjectsNearLimit = (reader: Reader, part: number, id?: string): Promise<ProjectRow[]> =>
  live(reader)
    .selectAll()
    .where(sql<boolean>`token_limit - credits >= token_limit * ${sql.lit(part)}`)
    .$if(id !== undefined, (query) => query.where('id', '=', id!))
    .execute()

/** First lock of every change in a project. All operations lock projects before keys, to avoid deadlocks. */
export const lockProject = (tx: Transaction, id: string): Promise<ProjectRow | undefined> =>
  tx.lock(live(tx).selectAll().where('id', '=', id)).executeTakeFirst()

/** Returns false if the name is taken. */
export async function insertProject(tx: Transaction, row: ProjectRow): Promise<boolean> {
  const inserted = await tx
    .write<ProjectTables>()
    .insertInto('projects')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return inserted.numInsertedOrUpdatedRows === 1n
}

export async function updateProjectRow(
  tx: Transaction,
  id: string,
  change: Partial<ProjectRow>,
): Promise<void> {
  await tx.write<ProjectTables>().updateTable('projects').set(change).where('id', '=', id).execute()
}

/** After a restore, which restores no tokens: the next request of each project counts its tokens again. */
export async function forgetAllCredits(tx: Transaction): Promise<void> {
  await tx.write<ProjectTables>().updateTable('projects').set({ credits: 0, full_until: null }).execute()
}

export async function listProjectsDeletedBefore(reader: Reader, at: number): Promise<string[]> {
  const rows = await reader
    .read<ProjectTables>()
    .selectFrom('projects')
    .select('id')
    .where('deleted_at', '<', at)
    .execute()
  return rows.map((row) => row.id)
}

export async function deleteProjectRow(tx: Transaction, id: string): Promise<void> {
  await tx.write<ProjectTables>().deleteFrom('projects').where('id', '=', id).execute()
}
