import {
  countUpTo,
  onPage,
  type Reader,
  type Transaction,
  withinTimes,
} from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'

export interface RefusalRow {
  request_id: string
  /** Empty if no project is known. Such refusals share one quota. */
  project_id: string
  at: number
  method: string
  path: string
  status: number
  key: string
  step: string
  key_id: string | null
  address: string | null
  socket_address: string
  forwarded: string | null
  /** The path that a proxy asked the gateway about. */
  original_path: string | null
  required_scope: string | null
}

interface RefusalTables {
  refusals: RefusalRow
}

export async function insertRefusals(tx: Transaction, rows: readonly RefusalRow[]): Promise<void> {
  await tx
    .write<RefusalTables>()
    .insertInto('refusals')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export const findRefusal = (reader: Reader, requestId: string): Promise<RefusalRow | undefined> =>
  reader
    .read<RefusalTables>()
    .selectFrom('refusals')
    .selectAll()
    .where('request_id', '=', requestId)
    .executeTakeFirst()

export async function listRefusalRows(
  reader: Reader,
  { projectId, keyId }: { projectId: string; keyId?: string | undefined },
  page: Page,
): Promise<Rows<RefusalRow>> {
  const query = reader
    .read<RefusalTables>()
    .selectFrom('refusals')
    .where('project_id', '=', projectId)
    .$if(keyId !== undefined, (all) => all.where('key_id', '=', keyId!))
  const total = await countUpTo(reader, query.where(withinTimes(page, 'at')))
  const rows = await query
    .selectAll()
    .where(onPage(page, ['at', 'request_id']))
    .orderBy('at', 'desc')
    .orderBy('request_id', 'desc')
    .limit(page.limit + 1)
    .offset(page.offset)
    .execute()
  return { rows, total }
}

/** Deletes up to `limit` refusals before a time, and returns how many. */
export async function deleteSomeRefusalsBefore(tx: Transaction, at: number, limit: number): Promise<number> {
  const tables = tx.write<RefusalTables>()
  const old = tables
    .selectFrom('refusals')
    .select('request_id')
    .where('at', '<', at)
    .orderBy('at')
    .limit(limit)
  const { numDeletedRows } = await tables
    .deleteFrom('refusals')
    .where('request_id', 'in', old)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Time of the oldest of the newest `keep` refusals of a project; undefined if it has fewer. */
export async function findOldestKept(
  reader: Reader,
  projectId: string,
  keep: number,
): Promise<number | undefined> {
  const row = await reader
    .read<RefusalTables>()
    .selectFrom('refusals')
    .select('at')
    .where('project_id', '=', projectId)
    .orderBy('at', 'desc')
    .limit(1)
    .offset(keep - 1)
    .executeTakeFirst()
  return row?.at
}

/** Deletes all refusals of a project, or those before a time. */
export async function deleteRefusalsOfProject(
  tx: Transaction,
  projectId: string,
  before = Number.MAX_SAFE_INTEGER,
): Promise<void> {
  await tx
    .write<RefusalTables>()
    .deleteFrom('refusals')
    .where('project_id', '=', projectId)
    .where('at', '<', before)
    .execute()
}
