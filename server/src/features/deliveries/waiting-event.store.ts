import { afterCursor, countUpTo, type Reader, withinTimes } from '../../platform/database/index.ts'
import type { Page } from '../../platform/http/index.ts'
import type { EventTables } from '../events/index.ts'

/** An event, and its position in the list: by the delivery that stands for it, or by itself while it waits. */
export interface UndeliveredEvent {
  readonly eventId: string
  readonly at: number
  readonly id: string
}

const waitingIn = (reader: Reader, projectId: string, page: Page) =>
  reader
    .read<EventTables>()
    .selectFrom('outbox')
    .where('project_id', '=', projectId)
    .where(withinTimes(page, 'created_at'))

/** Events in the outbox, newest first. It is short while a worker runs. */
export async function listWaiting(
  reader: Reader,
  projectId: string,
  page: Page,
): Promise<UndeliveredEvent[]> {
  const rows = await waitingIn(reader, projectId, page)
    .select(['event_id', 'created_at'])
    .where(afterCursor(page, ['created_at', 'event_id']))
    .orderBy('created_at', 'desc')
    .orderBy('event_id', 'desc')
    .limit(page.limit)
    .execute()
  return rows.map(({ event_id, created_at }) => ({ eventId: event_id, at: created_at, id: event_id }))
}

export const countWaiting = (reader: Reader, projectId: string, page: Page): Promise<number> =>
  countUpTo(reader, waitingIn(reader, projectId, page))
