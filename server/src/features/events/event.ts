import {
  EVENT_KIND_VALUES,
  EVENT_KINDS,
  type EventKind,
  eventKindOf,
  wireOf,
} from '../../contract/event-kinds.ts'
import { Problem } from '../../contract/problem.ts'
import { didYouMean } from '../../platform/closest.ts'
import { isoTime } from '../../platform/http/index.ts'
import type { EventHead, EventRow, Shown } from './event.store.ts'

/** Where the call came from, as receivers are told. */
export const eventSource = ({ channel, key_name, key_app_id }: EventHead) => ({
  channel,
  ...(key_name !== null && key_app_id !== null && { api_key: { name: key_name, app_id: key_app_id } }),
})

export const eventHeadView = (row: Shown<EventHead>) => ({
  id: row.id,
  object: 'event' as const,
  kind: row.kind,
  type: wireOf(row.kind),
  version: row.version,
  entity_id: row.entity_id,
  campaign_id: row.campaign_id,
  group_id: row.group_id,
  event_source: eventSource(row),
  occurred_at: isoTime(row.occurred_at),
  created_at: isoTime(row.created_at),
  waiting: row.waiting !== null,
})

export const eventView = (row: Shown<EventRow>) => ({
  ...eventHeadView(row),
  data: JSON.parse(row.data) as unknown,
})

/** The kind that was meant, by either of its names. */
export function requireEventKind(name: string): EventKind {
  const kind = eventKindOf(name)
  if (kind) return kind
  const known = EVENT_KIND_VALUES.flatMap((one) => [one, EVENT_KINDS[one].wire])
  throw new Problem('invalid_payload', {
    message: `${JSON.stringify(name.slice(0, 80))} is not a kind of event.${didYouMean(name, known)}`,
    details: `Kinds: ${EVENT_KIND_VALUES.join(', ')}. GET /events lists them with their schemas.`,
  })
}
