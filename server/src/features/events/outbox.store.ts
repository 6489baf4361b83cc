import type { Reader } from '../../platform/database/index.ts'
import type { EventTables } from './event.store.ts'

/** Ids of a project's events in the outbox, up to a limit. */
export async function listOutboxEventIds(
  reader: Reader,
  projectId: string,
  limit: number,
): Promise<string[]> {
  const rows = await reader
    .read<EventTables>()
    .selectFrom('outbox')
    .select('event_id')
    .where('project_id', '=', projectId)
    .limit(limit)
    .execute()
  return rows.map(({ event_id }) => event_id)
}
