import { EVENT_KIND_VALUES, EVENT_KINDS, type EventKind } from '../../contract/event-kinds.ts'
import { ID_PREFIX } from '../../contract/ids.ts'
import { sentData } from './reward-redemption-completed.ts'
import {
  about,
  constant,
  idWith,
  object,
  oneOf,
  orNull,
  type Schema,
  text,
  time,
  withoutSays,
} from './schema-parts.ts'

const DATA: Readonly<Record<EventKind, Schema>> = {
  'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED': sentData,
}

/** The complete payload that a receiver gets. */
const envelope = (kind: EventKind): Schema =>
  object({
    id: about('Id of the delivery, the same for every attempt.', idWith('whs_')),
    project_id: idWith(ID_PREFIX.project),
    created_at: about('When the delivery was created.', time),
    type: about(`\`${kind}\`, or the \`event_name\` of a distribution.`, text),
    data: DATA[kind],
    source: object({
      id: idWith(ID_PREFIX.webhook, ID_PREFIX.distribution),
      object: oneOf('webhook', 'distribution'),
      target_url: text,
    }),
    event: object({
      id: idWith(ID_PREFIX.event),
      type: constant(EVENT_KINDS[kind].wire),
      created_at: time,
      entity_id: about('Id of the customer.', text),
      group_id: about('Request id of the call that caused the event.', orNull(text)),
      event_source: object(
        { channel: oneOf('API', 'CLIENT_API', 'USER_PORTAL', 'INTERNAL') },
        { api_key: object({ name: text, app_id: text }) },
      ),
    }),
  })

export interface EventSchema {
  readonly kind: EventKind
  /** For example `customer.reward_redemptions.completed.2024-01-01.json`, in `docs/events/` and below `/events/`. */
  readonly file: string
  readonly schema: object
}

function schemaOf(kind: EventKind): EventSchema {
  const { wire, version, says } = EVENT_KINDS[kind]
  return {
    kind,
    file: `${wire}.${version}.json`,
    schema: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $id: `urn:jeton:event:${wire}:${version}`,
      title: kind,
      description: `${says} Fields may be added, but are never renamed or removed.`,
      ...(withoutSays(envelope(kind)) as object),
    },
  }
}

/** Schemas of all event kinds, as published in `docs/events/` and at `/events/`. */
export const EVENT_SCHEMAS: readonly EventSchema[] = EVENT_KIND_VALUES.map(schemaOf)
