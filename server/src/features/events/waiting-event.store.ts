import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { EventHead, EventTables } from './event.store.ts'

/** What an event tells, as text or as its bytes: whatever came from the store. */
export type EventData = string | Uint8Array

/** One that waits to be fanned out, with what it tells where that is short. */
export interface WaitingEvent extends EventHead {
  readonly data: EventData | null
}

/** Ids of what waits in a project; at most `most`. */
export async function listWaitingEventIds(
  reader: Reader,
  projectId: string,
  most: number,
): Promise<string[]> {
  const rows = await reader
    .read<EventTables>()
    .selectFrom('waiting_events')
    .select('event_id')
    .where('project_id', '=', projectId)
    .limit(most)
    .execute()
  return rows.map(({ event_id }) => event_id)
}

/** What the claim holds waits, and nobody holds it. Looks at all that waits: for what has failed. */
export async function freeEvents(tx: Transaction, claimId: string): Promise<void> {
  await tx
    .write<EventTables>()
    .updateTable('waiting_events')
    .set(({ ref }) => ({ claim_id: null, free_at: ref('created_at') }))
    .where('claim_id', '=', claimId)
    .execute()
}
