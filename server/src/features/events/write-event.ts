import { EVENT_KINDS, type EventChannel, type EventKind } from '../../contract/event-kinds.ts'
import { ID_PREFIX } from '../../contract/ids.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { newTimedId, type RandomBytes } from '../../platform/secrets.ts'
import { type EventRow, enqueueEvent, insertEvent } from './event.store.ts'

export const newEventId = (random: RandomBytes, now: number): string =>
  newTimedId(random, ID_PREFIX.event, now)

export interface NewEvent {
  /** Set by a caller that needs the id before the event is written. */
  readonly id?: string | undefined
  readonly projectId: string
  readonly kind: EventKind
  /** Id of the customer. */
  readonly entityId: string
  readonly campaignId: string | null
  /** Request id of the call that caused the event. */
  readonly groupId: string | null
  readonly source: {
    readonly channel: EventChannel
    readonly apiKey?: { readonly name: string; readonly app_id: string } | undefined
  }
  /** Trace of that call. */
  readonly traceparent?: string | null | undefined
  /** Fields of the kind without `publication`, stored in this key order. */
  readonly data: object
  /** Time of the transaction, if the caller has already read it. */
  readonly now?: number | undefined
  /** Time of the redemption in epoch milliseconds, if earlier than now. */
  readonly occurredAt?: number | undefined
}

export interface WrittenEvent {
  readonly id: string
  readonly createdAt: number
}

/** Writes an event in the transaction of the redemption, so that neither exists without the other. */
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
    traceparent: event.traceparent ?? null,
    data: JSON.stringify(event.data),
    occurred_at: event.occurredAt ?? now,
    created_at: now,
  }
  await Promise.all([insertEvent(tx, row), enqueueEvent(tx, row)])
  return { id, createdAt: now }
}
