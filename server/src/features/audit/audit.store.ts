import { countUpTo, type Reader, type Transaction } from '../../platform/database/index.ts'
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

export async function insertAuditRow(tx: Transaction, row: AuditRow): Promise<void> {
  await tx.write<AuditTables>().insertInto('audit_log').values(row).execute()
}

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
  if (page.from !== undefined) query = query.where('at', '>=', page.from)
  if (page.to !== undefined) query = query.where('at', '<', page.to)
  const total = await countUpTo(reader, query)
  const { before } = page
  if (before)
    query = query.where((eb) =>
      eb.or([eb('at', '<', before.at), eb.and([eb('at', '=', before.at), eb('id', '<', before.id)])]),
    )
  const rows = await query
    .selectAll()
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .offset(page.offset)
    .execute()
  return { rows, total }
}
