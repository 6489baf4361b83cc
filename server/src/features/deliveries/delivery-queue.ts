import type { EventRow } from '../events/index.ts'
import type { DestinationRow } from '../webhooks/index.ts'
import type { Attempt, DeliveryRow, StoredStatus } from './delivery.ts'

/** Well above the 10 s that a send may take, and below the 30 s within which a crashed worker's deliveries are sent again. */
export const LEASE_MS = 20_000

/** Destinations that one claim visits: enough to find work, few enough not to block SQLite's one writer for long. */
export const QUEUES_PER_CLAIM = 2_000

/** Characters of an error that its delivery holds. PostgreSQL limits the entries of an index. */
export const MAX_STORED_ERROR = 500

/** The result of an attempt, as it is stored. */
export interface Settlement {
  readonly project_id: string
  readonly id: string
  /** The settlement takes effect only while this claim holds the delivery. */
  readonly claim_id: string
  readonly status: StoredStatus
  readonly slot: number
  readonly first_attempt_at: number | null
  readonly next_attempt_at: number | null
  readonly attempt: Readonly<Attempt>
}

/** A claim that is given up without an attempt: the delivery is due again. */
export interface Release {
  readonly project_id: string
  readonly id: string
  readonly claim_id: string
  readonly due: number
}

export interface DestinationId {
  readonly project_id: string
  readonly id: string
}

export interface ClaimRequest {
  readonly id: string
  readonly limit: number
  /** How many more deliveries each destination can take, by its id. */
  readonly capacities: Readonly<Record<string, number>>
  /** For destinations that are not in `capacities`. */
  readonly defaultCapacity: number
  /** The claim visits the queues after this destination. */
  readonly cursor: DestinationId
}

export interface SettleAndClaim {
  /** Used by SQLite. PostgreSQL uses its own clock. */
  readonly now: number
  readonly settlements: readonly Settlement[]
  readonly released: readonly Release[]
  /** Destinations whose attempts all failed, and those that succeeded again after failing. */
  readonly failing: readonly DestinationId[]
  readonly recovered: readonly DestinationId[]
  /** Null to settle only. */
  readonly claim: ClaimRequest | null
}

export const CLAIMED_COLUMNS = [
  ...(['project_id', 'id', 'event_id', 'destination_id', 'head', 'tail'] as const),
  ...(['attempts_made', 'slot', 'first_attempt_at'] as const),
] as const satisfies readonly (keyof DeliveryRow)[]
export type ClaimedRow = Readonly<Pick<DeliveryRow, (typeof CLAIMED_COLUMNS)[number]>>

/** Listed here, because the procedure in SQLite's writer thread must not load other features. */
export const EVENT_COLUMNS = [
  ...(['project_id', 'id', 'kind', 'version', 'entity_id', 'campaign_id', 'group_id', 'channel'] as const),
  ...(['key_name', 'key_app_id', 'traceparent', 'occurred_at', 'created_at'] as const),
] as const satisfies readonly (keyof EventRow)[]

/** Columns of a destination that are needed for sending. */
export const TARGET_COLUMNS = [
  ...(['project_id', 'id', 'kind', 'campaign_id', 'event_name', 'headers', 'target_url', 'events'] as const),
  ...(['active', 'secret', 'previous_secret', 'previous_until', 'failing_since'] as const),
] as const satisfies readonly (keyof DestinationRow)[]
export type Target = Readonly<Pick<DestinationRow, (typeof TARGET_COLUMNS)[number]>>

export interface Claimed {
  /** The store's time. */
  readonly now: number
  readonly deliveries: readonly ClaimedRow[]
  readonly events: readonly EventRow[]
  readonly targets: readonly Target[]
  /** Where the next claim continues; null once all queues were visited. */
  readonly next: DestinationId | null
}
