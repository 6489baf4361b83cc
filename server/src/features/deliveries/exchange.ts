import type { EventData, EventHead } from '../events/index.ts'
import type { DestinationRow } from '../webhooks/index.ts'
import type { Attempt, DeliveryRow, StoredStatus } from './delivery.ts'

/** Well above the 10 s that a send may take, and below the 30 s within which a crashed worker's deliveries are sent again. */
export const LEASE_MS = 20_000

/** Destinations that one claim looks at: enough to find work, few enough that nobody waits long for the one writer. */
export const WALK_MOST = 2_000

/** How a send ended, for the record. */
export interface Settlement {
  readonly project_id: string
  readonly id: string
  readonly claim_id: string
  readonly status: StoredStatus
  readonly slot: number
  readonly first_attempt_at: number | null
  readonly next_attempt_at: number | null
  /** Its number whoever holds the claim knows: nobody else counts meanwhile. */
  readonly attempt: Readonly<Attempt>
}

/** An event that was sent before its deliveries were written. They are, unless someone else holds the event by now. */
export interface WrittenFirst {
  readonly created_at: number
  readonly project_id: string
  readonly event_id: string
  readonly claim_id: string
  /** `settled_at` is for the store to say. */
  readonly deliveries: readonly DeliveryRow[]
}

/** A claim that is not used: the delivery is due again. */
export interface GivenBack {
  readonly project_id: string
  readonly id: string
  readonly claim_id: string
  readonly due: number
}

export interface DestinationId {
  readonly project_id: string
  readonly id: string
}

/** How many more a destination may have in flight, where that is not the share of one that is new. */
export type Room = DestinationId & { readonly room: number }

export interface Claim {
  readonly id: string
  /** 0 where only something is to be settled. */
  readonly most: number
  /** Of destinations that are not in `rooms`. */
  readonly share: number
  readonly rooms: readonly Room[]
  /** The walk goes on behind this destination. */
  readonly after: DestinationId
}

export interface ExchangeInput {
  /** For SQLite, whose clock this is; PostgreSQL has its own. */
  readonly now: number
  /** Before all else: what follows may be about them. */
  readonly firsts: readonly WrittenFirst[]
  readonly settlements: readonly Settlement[]
  readonly givenBack: readonly GivenBack[]
  /** Where every attempt in this batch failed, and where one succeeded. */
  readonly failing: readonly DestinationId[]
  readonly recovered: readonly DestinationId[]
  readonly claim: Claim
}

export interface Claimed {
  readonly project_id: string
  readonly id: string
  readonly event_id: string
  readonly destination_id: string
  readonly head: string
  readonly tail: string
  readonly attempts_made: number
  readonly slot: number
  readonly first_attempt_at: number | null
}

export type ClaimedEvent = EventHead & { readonly data: EventData }

/** Of a column. */
export type Value = string | number | null

export const EVENT_COLUMNS = [
  ...(['project_id', 'id', 'kind', 'version', 'entity_id', 'campaign_id', 'group_id'] as const),
  ...(['channel', 'key_name', 'key_app_id', 'occurred_at', 'created_at'] as const),
] as const satisfies readonly (keyof EventHead)[]

/** Everything that sending needs, and who wants what; `skips` may be long, and belongs to the fan-out alone. */
export const DESTINATION_COLUMNS = [
  ...(['project_id', 'id', 'kind', 'campaign_id', 'event_name', 'headers', 'target_url', 'events'] as const),
  ...(['active', 'secret', 'previous_secret', 'previous_until', 'failing_since'] as const),
] as const satisfies readonly (keyof DestinationRow)[]
export type ClaimedDestination = Readonly<Pick<DestinationRow, (typeof DESTINATION_COLUMNS)[number]>>

export interface ExchangeOutput {
  readonly now: number
  readonly deliveries: readonly Claimed[]
  readonly events: readonly ClaimedEvent[]
  readonly destinations: readonly ClaimedDestination[]
  /** Where the next walk goes on; null when this one came to the end. */
  readonly next: DestinationId | null
}
