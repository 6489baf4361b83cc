import { wireOf } from '../../contract/event-kinds.ts'
import { isoTime } from '../../platform/http/index.ts'
import type { EventHead, EventRow, Shown } from './event.store.ts'

/** Origin of the call, as shown to receivers. */
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
