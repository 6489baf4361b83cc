/**
 * Every kind of event. Subscriptions accept the kind and its wire name. Receivers get the kind as `type` of the envelope and
 * the wire name as `event.type`. `version` is the version of its fields.
 */
interface KindRow {
  readonly wire: string
  readonly version: string
  readonly says: string
}

export const EVENT_KINDS = {
  'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED': {
    wire: 'customer.reward_redemptions.completed',
    version: '2024-01-01',
    says: 'The redemption of a reward has been completed.',
  },
} as const satisfies Record<string, KindRow>

export type EventKind = keyof typeof EVENT_KINDS

/** Type of test events. No real event has it, and nobody can subscribe to it. */
export const TEST_EVENT = 'webhook.test'

/** Kinds of stored events. */
export type StoredKind = EventKind | typeof TEST_EVENT

/** Name in `event.type`. */
export const wireOf = (kind: StoredKind): string => (kind === TEST_EVENT ? kind : EVENT_KINDS[kind].wire)

export const EVENT_KIND_VALUES = Object.keys(EVENT_KINDS) as EventKind[]

export const REWARD_REDEMPTION_COMPLETED: EventKind = 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED'

/** Names in subscriptions and filters: the kind or its wire name. */
export type EventKindName = EventKind | (typeof EVENT_KINDS)[EventKind]['wire']

const byName = new Map<EventKindName, EventKind>(
  EVENT_KIND_VALUES.flatMap((kind) => [
    [kind, kind],
    [EVENT_KINDS[kind].wire, kind],
  ]),
)

export const EVENT_KIND_NAMES: readonly EventKindName[] = [...byName.keys()]

export const eventKindOf = (name: EventKindName): EventKind => byName.get(name)!

/** Origin of the call that caused an event. */
export type EventChannel = 'API' | 'CLIENT_API' | 'USER_PORTAL' | 'INTERNAL'
