import { EVENT_KIND_VALUES, type EventKind, TEST_EVENT } from '../../contract/event-kinds.ts'
import { Problem } from '../../contract/problem.ts'
import { isoTime } from '../../platform/http/index.ts'
import { checkTargetUrl, type EgressPolicy } from '../../platform/outbound/index.ts'
import { requireEventKind } from '../events/index.ts'
import type { DestinationRow } from './destination.store.ts'
import { checkHeaderNames, maskedHeaders } from './extra-headers.ts'

/** What can be set; the rest belongs to Jeton. */
export interface DestinationFields {
  readonly target_url?: string | undefined
  readonly events?: readonly string[] | undefined
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
  disabled_reason: row.disabled_reason,
  created_at: isoTime(row.created_at),
  updated_at: isoTime(row.updated_at),
})

/** As outsiders and the audit log see it: never a secret, and of headers only the names. */
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

export const DISABLED_BY_OPERATOR = 'disabled by an operator'

/** Kinds in one spelling, each once; all of them where none is named. */
export const kindsOf = (names: readonly string[] = EVENT_KIND_VALUES): string =>
  JSON.stringify([...new Set(names.map(requireEventKind))])

/** Everything that can be said without the store. */
export function checkFields(egressPolicy: EgressPolicy, fields: DestinationFields): void {
  if (fields.target_url !== undefined) checkTargetUrl(fields.target_url, egressPolicy)
  if (fields.headers) checkHeaderNames(fields.headers)
  if (fields.event_name === TEST_EVENT)
    throw new Problem('invalid_payload', {
      message: `event_name must not be "${TEST_EVENT}": that is what test events are called.`,
      details: 'Choose another name, or leave it out to get the kind of the event.',
    })
}
