import { ERRORS } from './error-keys.ts'

export interface MetricDescription {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels?: readonly string[]
  /**
   * How the values of several processes of one service are combined: the sum unless it says otherwise. `any` takes all series
   * from one process, for figures that every process reads from the same store.
   */
  readonly aggregate?: 'max' | 'min' | 'any'
  /** How many series a target has at most, or what their number follows. One, and 17 for a histogram, unless it says otherwise. */
  readonly maxSeries?: number | string
  /** One line, shown by `/metrics`. */
  readonly help: string
  /** Added by the reference: the expected value, or what to do about another one. */
  readonly note?: string
}

/**
 * Maximum of series with an own value of these labels. The first values keep their series until the process ends, since a counter
 * must not decrease, and all others share the value `other`.
 */
export const MAX_LABEL_VALUES = { project: 100, destination: 200 } as const

export const OTHER = 'other'
/** Value of `project` for requests of which no project is known. */
export const NO_PROJECT = 'none'

/** Destinations with a backlog that have series of their own: those with the most due deliveries. */
export const MAX_BACKLOGS_SHOWN = 100

/** 14 buckets, `+Inf`, the sum and the count. */
export const SERIES_PER_HISTOGRAM = 17

const OUTCOMES = 5
const VERDICTS = 2
/** Reasons are error keys or checks of `jeton explain`, which are fewer. */
const REASONS = Object.keys(ERRORS).length
const PROJECTS = MAX_LABEL_VALUES.project + 1
const PROJECTS_OR_NONE = PROJECTS + 1
/**
 * A destination belongs to one project, which one process may know by its id and another as `other`. A destination without a
 * series of its own is `other` of its project.
 */
const DESTINATIONS = 2 * MAX_LABEL_VALUES.destination + PROJECTS

/** Every metric of a service. A metric that is not listed here cannot be registered. */
export const METRICS: Readonly<Record<string, MetricDescription>> = {
  jeton_http_request_duration_seconds: {
    type: 'histogram',
    labels: ['method', 'route', 'status'],
    maxSeries: '17 per route and status',
    help: 'Duration of HTTP requests.',
  },
  jeton_key_state_age_seconds: {
    type: 'gauge',
    aggregate: 'max',
    help: 'Seconds since this process last confirmed the state of keys.',
    note: 'About 1; at 30 it returns 503.',
  },
  jeton_store_transaction_duration_seconds: {
    type: 'histogram',
    labels: ['kind'],
    maxSeries: 2 * SERIES_PER_HISTOGRAM,
    help: 'Duration of store transactions, including the wait for a connection.',
  },
  jeton_store_unavailable_total: { type: 'counter', help: 'Operations that the store did not answer.' },
  jeton_tokens_issued_total: {
    type: 'counter',
    labels: ['project'],
    maxSeries: PROJECTS,
    help: 'Tokens issued.',
  },
  jeton_tokens_refused_total: {
    type: 'counter',
    labels: ['project', 'reason'],
    maxSeries: PROJECTS_OR_NONE * REASONS,
    help: 'Token requests refused.',
    note: 'The reason is an error key.',
  },
  jeton_introspections_total: {
    type: 'counter',
    labels: ['project', 'verdict'],
    maxSeries: PROJECTS * VERDICTS,
    help: 'Introspections, by the project of the caller.',
  },
  jeton_calls_total: {
    type: 'counter',
    labels: ['project'],
    maxSeries: PROJECTS,
    help: 'Allowed calls of /v1, /client/v1 and the gateway.',
  },
  jeton_refusals_total: {
    type: 'counter',
    labels: ['project', 'reason'],
    maxSeries: PROJECTS_OR_NONE * REASONS,
    help: 'Requests refused with 401, 403 or 429.',
    note: 'The reason is the check that failed, as in `jeton refusal list`.',
  },
  jeton_redemptions_total: {
    type: 'counter',
    labels: ['project'],
    maxSeries: PROJECTS,
    help: 'Completed and reported redemptions.',
  },
  jeton_gateway_decisions_total: {
    type: 'counter',
    labels: ['decision'],
    maxSeries: 2,
    help: 'Decisions of the gateway.',
  },
  jeton_workers: { type: 'gauge', help: 'HTTP processes of the service.', note: 'See `JETON_WORKERS`.' },
  jeton_workers_replaced_total: {
    type: 'counter',
    help: 'HTTP processes that ended and were replaced.',
    note: 'Only if `JETON_WORKERS` is more than 1.',
  },
  jeton_tokens_cached: { type: 'gauge', help: 'Tokens in the cache.' },
  jeton_token_cache_hits_total: { type: 'counter', help: 'Token checks answered from the cache.' },
  jeton_token_cache_misses_total: {
    type: 'counter',
    help: 'Token checks that read the store.',
    note: 'If it grows with the traffic, raise `JETON_CACHE_TOKENS`.',
  },
  jeton_deliveries_due: {
    type: 'gauge',
    aggregate: 'max',
    help: 'Due deliveries in the store, counted up to 1,000 per destination.',
  },
  jeton_deliveries_oldest_due_seconds: {
    type: 'gauge',
    aggregate: 'max',
    help: 'Age of the oldest due delivery.',
    note: 'Near 0.',
  },
  jeton_destination_deliveries_due: {
    type: 'gauge',
    labels: ['project', 'destination'],
    maxSeries: MAX_BACKLOGS_SHOWN + 1,
    aggregate: 'any',
    help: 'Due deliveries of a destination, counted up to 1,000.',
    note: 'Only destinations that have some.',
  },
  jeton_destination_oldest_due_seconds: {
    type: 'gauge',
    labels: ['project', 'destination'],
    maxSeries: MAX_BACKLOGS_SHOWN + 1,
    aggregate: 'any',
    help: 'Age of the oldest due delivery of a destination.',
    note: 'Only destinations that have one.',
  },
  jeton_deliveries_in_flight: {
    type: 'gauge',
    help: 'Requests to receivers in flight.',
    note: 'At most 512 per process.',
  },
  jeton_delivery_attempts_total: {
    type: 'counter',
    labels: ['project', 'destination', 'outcome'],
    maxSeries: DESTINATIONS * OUTCOMES,
    help: 'Delivery attempts.',
    note: '`delivered`, `failed`, `gone` (410), `refused` (private address) or `unsent` (could not be signed).',
  },
  jeton_delivery_arrival_seconds: {
    type: 'histogram',
    help: 'Time from the commit of an event to the response of a receiver, for first attempts that succeeded.',
  },
  jeton_trace_spans_dropped_total: {
    type: 'counter',
    labels: ['reason'],
    help: 'Trace spans that were not exported.',
    note: '`queue_full` or `export_failed`. Only if traces are exported.',
  },
  process_start_time_seconds: {
    type: 'gauge',
    aggregate: 'min',
    help: 'Start time, in Unix seconds.',
    note: 'Changes at a restart.',
  },
  process_resident_memory_bytes: { type: 'gauge', help: 'Resident memory.' },
  process_cpu_seconds_total: { type: 'counter', help: 'Processor time, user and system.' },
  nodejs_heap_used_bytes: { type: 'gauge', help: 'JavaScript heap in use.' },
  nodejs_eventloop_utilization: {
    type: 'gauge',
    aggregate: 'max',
    help: 'Fraction of time that the event loop was busy since the start.',
  },
}
