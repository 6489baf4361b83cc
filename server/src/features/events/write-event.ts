import { EVENT_KINDS, type EventChannel, type EventKind } from '../../contract/event-kinds.ts'
import { ID_PREFIX } from '../../contract/ids.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { newTimedId, type RandomBytes } from '../../platform/secrets.ts'
import { type EventRow, enqueueEvent, insertEvent } from './event.store.ts'

export const newEventId = (random: RandomBytes, now: number): string =>
  newTimedId(random, ID_PREFIX.event, now)

export interface NewEvent {
  /** Set by a caller that needs it before the event is written. */
  readonly id?: string | undefined
  readonly projectId: string
  readonly kind: EventKind
  /** The customer that it is about. */
  readonly entityId: string
  readonly campaignId: string | null
  /** Request id of the call that caused it. */
  readonly groupId: string | null
  readonly source: {
    readonly channel: EventChannel
    readonly apiKey?: { readonly name: string; readonly app_id: string } | undefined
  }
  /** The fields of the kind, without `publication`; stored in this order of keys. */
  readonly data: object
  /** The transaction's time, if the caller has read it already. */
  readonly now?: number | undefined
  /** When it happened, if that was before now; epoch milliseconds. */
  readonly occurredAt?: number | undefined
}

export interface WrittenEvent {
  readonly id: string
  readonly createdAt: number
}

/** Writes an event in the transaction that it describes: neither exists without the other. */
export async function writeEvent(
  { random }: { random: RandomBytes },
  tx: Transaction,
  event: NewEvent,
): Promise<WrittenEvent> {
  const now = event.now ?? (await tx.now())
  const id = event.id ?? newEventId(random, now)
  const { channel, apiKey } = event.source
  const row: EventRow = {
    project_id: event.projectId,
    id,
    kind: event.kind,
    version: EVENT_KINDS[event.kind].version,
    entity_id: event.entityId,
    campaign_id: event.campaignId,
    group_id: event.groupId,
    channel,
    key_name: apiKey?.name ?? null,
    key_app_id: apiKey?.app_id ?? null,
    data: JSON.stringify(event.data),
    occurred_at: event.occurredAt ?? now,
    created_at: now,
  }
  await Promise.all([insertEvent(tx, row), enqueueEvent(tx, row)])
  return { id, createdAt: now }
}
