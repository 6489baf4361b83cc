import type { Reader } from '../../platform/database/index.ts'
import type { ProjectTables } from '../projects/index.ts'
import { type EventRow, type EventTables, isInOutbox } from './event.store.ts'

/** Lists projects whose oldest event is older than `before`, with one index seek per project. */
export async function listProjectsWithEventsBefore(reader: Reader, before: number): Promise<string[]> {
  const rows = await reader
    .read<EventTables & ProjectTables>()
    .selectFrom('projects')
    .select('projects.id')
    .where(
      (eb) =>
        eb
          .selectFrom('events')
          .select((of) => of.fn.min('events.created_at').as('oldest'))
          .whereRef('events.project_id', '=', 'projects.id'),
      '<',
      before,
    )
    .execute()
  return rows.map(({ id }) => id)
}

export interface OldEvents {
  readonly projectId: string
  readonly before: number
  /** Continues after this event. */
  readonly after?: Pick<EventRow, 'created_at' | 'id'> | undefined
}

/** Lists the oldest events of a project before a time, without those in the outbox. */
export const listOldEvents = (
  reader: Reader,
  { projectId, before, after }: OldEvents,
  most: number,
): Promise<Pick<EventRow, 'created_at' | 'id'>[]> =>
  reader
    .read<EventTables>()
    .selectFrom('events')
    .select(['created_at', 'id'])
    .where('project_id', '=', projectId)
    .where('created_at', '<', before)
    .where((eb) => eb.not(isInOutbox(eb)))
    .$if(after !== undefined, (query) =>
      query.where((eb) => eb(eb.refTuple('created_at', 'id'), '>', eb.tuple(after!.created_at, after!.id))),
    )
    .orderBy('created_at')
    .orderBy('id')
    .limit(most)
    .execute()
