import {
  countUpTo,
  onPage,
  type Reader,
  type Transaction,
  unindexed,
  withinTimes,
} from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'

export interface AuditRow {
  id: string
  at: number
  actor_type: string
  actor_id: string
  address: string | null
  action: string
  project_id: string | null
  subject_type: string
  subject_id: string
  before: string | null
  after: string | null
  request_id: string | null
  /** Null in entries of earlier versions, and of the service itself. */
  via: string | null
}

interface AuditTables {
  audit_log: AuditRow
}

export interface AuditFilter {
  readonly projectId?: string | undefined
  readonly action?: string | undefined
  readonly actor?: string | undefined
  readonly subject?: string | undefined
}

type NewAuditRow = Omit<AuditRow, 'via'> & Partial<Pick<AuditRow, 'via'>>

export async function insertAuditRow(tx: Transaction, row: NewAuditRow): Promise<void> {
  await tx.write<{ audit_log: NewAuditRow }>().insertInto('audit_log').values(row).execute()
}

/** Finds the ids of a page with an index-only scan, so that skipped rows are not read. */
export async function listAuditRows(
  reader: Reader,
  filter: AuditFilter,
  page: Page,
): Promise<Rows<AuditRow>> {
  let query = reader.read<AuditTables>().selectFrom('audit_log')
  if (filter.projectId) query = query.where('project_id', '=', filter.projectId)
  if (filter.action) query = query.where('action', '=', filter.action)
  if (filter.actor) query = query.where('actor_id', '=', filter.actor)
  if (filter.subject) query = query.where('subject_id', '=', filter.subject)
  const total = await countUpTo(reader, query.where(withinTimes(page, 'at')))
  const shown = query
    .select('id')
    .where(onPage(page, ['at', 'id']))
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .offset(page.offset)
  const rows = await reader
    .read<AuditTables>()
    .selectFrom('audit_log')
    .selectAll()
    .where('id', 'in', shown)
    .orderBy(unindexed('at'), 'desc')
    .orderBy('id', 'desc')
    .execute()
  return { rows, total }
}

export async function hasAuditEntry(reader: Reader, id: string): Promise<boolean> {
  const row = await reader
    .read<AuditTables>()
    .selectFrom('audit_log')
    .select('id')
    .where('id', '=', id)
    .executeTakeFirst()
  return row !== undefined
}
