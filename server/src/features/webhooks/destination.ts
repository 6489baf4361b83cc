import {
  EVENT_KIND_VALUES,
  type EventKind,
  type EventKindName,
  eventKindOf,
} from '../../contract/event-kinds.ts'
import { isoTime, isoTimeOrNull } from '../../platform/http/index.ts'
import { checkTargetUrl, type EgressPolicy } from '../../platform/outbound/index.ts'
import type { DestinationRow } from './destination.store.ts'
import { maskedHeaders } from './extra-headers.ts'

/** Fields that an operator can set. */
export interface DestinationFields {
  readonly target_url?: string | undefined
  readonly events?: readonly EventKindName[] | undefined
  readonly active?: boolean | undefined
  readonly description?: string | null | undefined
  readonly name?: string | undefined
  readonly campaign_id?: string | undefined
  readonly event_name?: string | null | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export const eventsOf = (row: Pick<DestinationRow, 'events'>): EventKind[] => JSON.parse(row.events)

const webhookView = (row: DestinationRow) => ({
  id: row.id,
  object: 'webhook' as const,
  target_url: row.target_url,
  events: eventsOf(row),
  active: row.active === 1,
  description: row.description,
  secret_last4: row.secret_last4,
  previous_secret_until: isoTimeOrNull(row.previous_until),
  disabled_reason: row.disabled_reason,
  created_at: isoTime(row.created_at),
  updated_at: isoTime(row.updated_at),
})

/** Public view, also used in the audit log. It contains no secret and masks header values. */
export function destinationView(row: DestinationRow) {
  const common = webhookView(row)
  if (row.kind === 'webhook') return common
  return {
    ...common,
    object: 'distribution' as const,
    name: row.name!,
    campaign_id: row.campaign_id!,
    event_name: row.event_name,
    headers: maskedHeaders(row),
  }
}

/** Canonical names of the event kinds without duplicates; all kinds by default. */
export const kindsOf = (names: readonly EventKindName[] = EVENT_KIND_VALUES): string =>
  JSON.stringify([...new Set(names.map(eventKindOf))])

/** Checks the target URL against the egress policy, which a schema cannot express. */
export function checkFields(egressPolicy: EgressPolicy, { target_url }: DestinationFields): void {
  if (target_url !== undefined) checkTargetUrl(target_url, egressPolicy)
}
