export type StoredStatus = 'pending' | 'delivered' | 'exhausted'
/**
 * The status in the API. `held` and `cancelled` follow from the destination, disabled or deleted. So disabling and deleting
 * change one row, however many deliveries wait, and take effect at the next claim.
 */
export type DeliveryStatus = StoredStatus | 'held' | 'cancelled'

/** One event for one destination. */
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
  /** How many times of the schedule are used up. A manual retry of an exhausted delivery starts again at 0. */
  slot: number
  /** What the schedule counts from; null before the first attempt of a series. */
  first_attempt_at: number | null
  /** When it is due; while it is claimed, when the lease ends. Null unless pending. */
  next_attempt_at: number | null
  /** Claim of the worker that sends it. A worker that settles must still hold this claim. */
  claim_id: string | null
  created_at: number
  /** When it was delivered or exhausted. */
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
