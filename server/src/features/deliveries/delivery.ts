export type StoredStatus = 'pending' | 'delivered' | 'exhausted'
/**
 * The status in the API. `held` and `cancelled` follow from the destination, disabled or deleted. So disabling and deleting
 * change one row, however many deliveries wait, and take effect at the next claim.
 */
export type DeliveryStatus = StoredStatus | 'held' | 'cancelled'

/** Delivery of one event to one destination. */
export interface DeliveryRow {
  project_id: string
  /** `webhook-id`: the same on every attempt. Begins with the time, so that index pages are filled in order. */
  id: string
  event_id: string
  destination_id: string
  status: StoredStatus
  /**
   * The body is `head`, the event's `data` without its closing brace, and `tail`. Both are fixed when the delivery is
   * made; the data is stored once for all destinations.
   */
  head: string
  tail: string
  attempts_made: number
  /** Number of scheduled retries that are used up. A manual retry of an exhausted delivery starts again at 0. */
  slot: number
  /** Start of the retry schedule; null before the first attempt of a series. */
  first_attempt_at: number | null
  /** Due time, or the end of the lease while claimed. Null unless pending. */
  next_attempt_at: number | null
  /** Id of the current claim. A worker can settle only with this id. */
  claim_id: string | null
  created_at: number
  /** Time at which it was delivered or exhausted. */
  settled_at: number | null
  /** HTTP status of the last attempt, where that failed with a response. */
  last_status: number | null
  /** Error of the last attempt, at most 500 characters; null where it succeeded. */
  last_error: string | null
}

export interface AttemptRow extends Attempt {
  project_id: string
  delivery_id: string
}

export interface Attempt {
  number: number
  at: number
  duration_ms: number
  /** HTTP status; null without a response. */
  status: number | null
  /** First 16 KB. */
  response_body: string | null
  /** Explanation; null on success. */
  error: string | null
}

export interface DeliveryTables {
  deliveries: DeliveryRow
  attempts: AttemptRow
}
