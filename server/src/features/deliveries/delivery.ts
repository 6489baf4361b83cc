/** As it is stored. */
export type StoredStatus = 'pending' | 'delivered' | 'exhausted'
/**
 * As outsiders see it. `held` and `cancelled` follow from the destination, disabled or deleted: so disabling and
 * deleting are one row each, however much waits, and count from the next claim on.
 */
export type DeliveryStatus = StoredStatus | 'held' | 'cancelled'

/** One event on its way to one destination. */
export interface DeliveryRow {
  project_id: string
  /** `webhook-id`: the same on every attempt. Begins with the time, so that index pages are filled in order. */
  id: string
  event_id: string
  destination_id: string
  status: StoredStatus
  /**
   * The body is `head`, the event's `data` without its closing brace, and `tail`. Both are fixed when the delivery is
   * made; the data is stored once for all destinations. Rows of earlier builds may be short: see `expandShortPayload`.
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
  /** Of the worker that is sending it. Whoever settles must still hold it. */
  claim_id: string | null
  created_at: number
  /** When it was delivered or exhausted. */
  settled_at: number | null
  /** JSON of the first `Attempt`, in rows of earlier builds; null in all others. */
  first_attempt: string | null
}

/** One that did not come with its delivery. */
export interface AttemptRow extends Attempt {
  project_id: string
  delivery_id: string
}

export interface Attempt {
  number: number
  at: number
  duration_ms: number
  /** Of the answer; null where there was none. */
  status: number | null
  /** First 16 KB. */
  response_body: string | null
  /** In words; null on success. */
  error: string | null
}

/** What a customer was sent by a distribution, as the platform keeps it. */
export interface PublicationRow {
  project_id: string
  id: string
  event_id: string
  distribution_id: string
  customer_id: string | null
  /** JSON, as it was sent. */
  data: string
  created_at: number
}

export interface DeliveryTables {
  deliveries: DeliveryRow
  attempts: AttemptRow
  publications: PublicationRow
}
