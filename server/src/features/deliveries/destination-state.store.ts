import { sql } from 'kysely'
import type { Reader } from '../../platform/database/index.ts'
import type { DestinationTables } from '../webhooks/index.ts'
import { chunks, isIn, MAX_IDS } from './delivery-list.store.ts'
import type { DestinationState, StoredState } from './delivery-status.ts'

/** Finds the destinations with deliveries in a state: one index seek each, however many deliveries they have. */
export async function destinationsWith(
  reader: Reader,
  projectId: string,
  state: StoredState,
): Promise<DestinationState[]> {
  const found = sql<DestinationState>`
    with recursive seek(id) as (
      select min(destination_id) from deliveries where project_id = ${projectId} and ${isIn(state)}
      union all
      select (
        select min(destination_id) from deliveries
        where project_id = ${projectId} and ${isIn(state)} and destination_id > seek.id
      ) from seek where seek.id is not null
    )
    select d.id, d.kind, d.active, d.deleted_at, d.target_url
    from seek join destinations d on d.project_id = ${projectId} and d.id = seek.id`
  return (await found.execute(reader.read<DestinationTables>() as never)).rows
}

export async function findDestinationStates(
  reader: Reader,
  projectId: string,
  ids: readonly string[],
): Promise<DestinationState[]> {
  const found: DestinationState[] = []
  for (const some of chunks(ids, MAX_IDS))
    found.push(
      ...(await reader
        .read<DestinationTables>()
        .selectFrom('destinations')
        .select(['id', 'kind', 'active', 'deleted_at', 'target_url'])
        .where('project_id', '=', projectId)
        .where('id', 'in', some)
        .execute()),
    )
  return found
}
