import { PROJECT_TOKEN_LIMIT } from '../../src/contract/limits.ts'
import type { PanelDescription, RowDescription } from './describe-dashboard.ts'

/** Filters of every query: the scrape jobs that are chosen, and where a metric has it, the projects. */
const JOB = 'job=~"$job"'
const PROJECT = `${JOB},project=~"$project"`

const rate = (selector: string): string => `rate(${selector}[$__rate_interval])`
const requests = (filter = ''): string => `jeton_http_request_duration_seconds_count{${JOB}${filter}}`

/** p50, p95 and p99 of a histogram, and of each value of a label if one is given. */
const percentiles = (histogram: string, by?: string): PanelDescription['queries'] =>
  [50, 95, 99].map((percent) => ({
    expr: `histogram_quantile(${percent / 100}, sum by (le${by ? `, ${by}` : ''}) (${rate(`${histogram}_bucket{${JOB}}`)}))`,
    legend: by ? `p${percent} {{${by}}}` : `p${percent}`,
  }))

const OVERVIEW: readonly PanelDescription[] = [
  {
    ...{ title: 'Processes that answer', kind: 'stat', unit: 'short', width: 4 },
    description:
      'Targets of the scrape job that answered Prometheus. A target with several HTTP processes counts once.',
    queries: [{ expr: `sum(up{${JOB}})`, legend: 'up' }],
    thresholds: { red: -1, green: 1 },
  },
  {
    ...{ title: 'Firing alerts', kind: 'stat', unit: 'short', width: 4 },
    description: 'Alerts of deploy/prometheus/alerts.yaml that fire now. Each names the command to run.',
    queries: [
      { expr: 'count(ALERTS{alertname=~"Jeton.+",alertstate="firing"}) or vector(0)', legend: 'firing' },
    ],
    thresholds: { green: 0, red: 1 },
  },
  {
    ...{ title: 'Requests per second', kind: 'stat', unit: 'reqps', width: 4 },
    description: 'All HTTP requests, of every route and status.',
    queries: [{ expr: `sum(${rate(requests())})`, legend: 'requests' }],
  },
  {
    ...{ title: 'Server errors', kind: 'stat', unit: 'percentunit', width: 4 },
    description: 'Share of responses with 5xx. 503 means that the store did not answer, 500 is a bug.',
    queries: [
      {
        expr: `(sum(${rate(requests(',status=~"5.."'))}) or vector(0)) / sum(${rate(requests())})`,
        legend: '5xx',
      },
    ],
    thresholds: { green: 0, red: 0.01 },
  },
  {
    ...{ title: 'Age of the key state', kind: 'stat', unit: 's', width: 4 },
    description: 'Of the process that confirmed it least recently. About 1 s; at 30 s a process returns 503.',
    queries: [{ expr: `max(jeton_key_state_age_seconds{${JOB}})`, legend: 'age' }],
    thresholds: { green: 0, orange: 5, red: 10 },
  },
  {
    ...{ title: 'Oldest due delivery', kind: 'stat', unit: 's', width: 4 },
    description:
      'How long the oldest due delivery has waited. Near 0. Retries that wait for their time are not due.',
    queries: [{ expr: `max(jeton_deliveries_oldest_due_seconds{${JOB}})`, legend: 'waiting' }],
    thresholds: { green: 0, orange: 60, red: 300 },
  },
  {
    ...{ title: 'Responses by status', unit: 'reqps', width: 12 },
    description: '401 and 403 are refusals, 429 limits. See the row Tokens for their reasons.',
    queries: [{ expr: `sum by (status) (${rate(requests())})`, legend: '{{status}}' }],
  },
  {
    ...{ title: 'Duration of requests', unit: 's', width: 12 },
    description: 'All routes together, estimated from the buckets of the histogram.',
    queries: percentiles('jeton_http_request_duration_seconds'),
  },
  {
    ...{ title: 'Busiest routes', unit: 'reqps', width: 12 },
    description: 'The ten routes with the most requests.',
    queries: [
      { expr: `topk(10, sum by (method, route) (${rate(requests())}))`, legend: '{{method}} {{route}}' },
    ],
  },
  {
    ...{ title: 'Allowed calls by project', unit: 'reqps', width: 12 },
    description: 'Calls of /v1, /client/v1 and the gateway that were allowed.',
    queries: [{ expr: `sum by (project) (${rate(`jeton_calls_total{${PROJECT}}`)})`, legend: '{{project}}' }],
  },
]

const TOKENS: readonly PanelDescription[] = [
  {
    ...{ title: 'Tokens issued by project', unit: 'reqps', width: 12 },
    description: 'A client that requests a token for every call shows here. Tokens are valid for 15 minutes.',
    queries: [
      { expr: `sum by (project) (${rate(`jeton_tokens_issued_total{${PROJECT}}`)})`, legend: '{{project}}' },
    ],
  },
  {
    ...{ title: 'Tokens issued in 15 minutes', unit: 'short', width: 12 },
    description: `At most this many tokens of a project are active. Its limit is ${PROJECT_TOKEN_LIMIT} active tokens.`,
    queries: [
      {
        expr: `sum by (project) (increase(jeton_tokens_issued_total{${PROJECT}}[15m]))`,
        legend: '{{project}}',
      },
    ],
    thresholds: { green: 0, orange: 0.8 * PROJECT_TOKEN_LIMIT, red: PROJECT_TOKEN_LIMIT },
  },
  {
    ...{ title: 'Token requests refused', unit: 'reqps', width: 12 },
    description: 'By project and error key. The project is none if the key is unknown.',
    queries: [
      {
        expr: `topk(10, sum by (project, reason) (${rate(`jeton_tokens_refused_total{${PROJECT}}`)}))`,
        legend: '{{reason}} {{project}}',
      },
    ],
  },
  {
    ...{ title: 'Refusals by project and reason', unit: 'reqps', width: 12 },
    description:
      'All requests refused with 401, 403 or 429: the ten largest. jeton refusal list shows examples.',
    queries: [
      {
        expr: `topk(10, sum by (project, reason) (${rate(`jeton_refusals_total{${PROJECT}}`)}))`,
        legend: '{{reason}} {{project}}',
      },
    ],
  },
  {
    ...{ title: 'Introspections', unit: 'reqps', width: 8 },
    description: 'By verdict. Many inactive ones mean that clients use tokens beyond their expiry.',
    queries: [
      { expr: `sum by (verdict) (${rate(`jeton_introspections_total{${PROJECT}}`)})`, legend: '{{verdict}}' },
    ],
  },
  {
    ...{ title: 'Decisions of the gateway', unit: 'reqps', width: 8 },
    description: 'Requests of proxies, all projects together.',
    queries: [
      {
        expr: `sum by (decision) (${rate(`jeton_gateway_decisions_total{${JOB}}`)})`,
        legend: '{{decision}}',
      },
    ],
  },
  {
    ...{ title: 'Token checks answered from the cache', unit: 'percentunit', width: 8 },
    description: 'If it is low although clients reuse their tokens, raise JETON_CACHE_TOKENS.',
    queries: [
      {
        expr: `sum(${rate(`jeton_token_cache_hits_total{${JOB}}`)}) / (sum(${rate(`jeton_token_cache_hits_total{${JOB}}`)}) + sum(${rate(`jeton_token_cache_misses_total{${JOB}}`)}))`,
        legend: 'hit rate',
      },
    ],
  },
]

const attempts = (filter = ''): string => `jeton_delivery_attempts_total{${PROJECT}${filter}}`

const DELIVERIES: readonly PanelDescription[] = [
  {
    ...{ title: 'Redemptions by project', unit: 'reqps', width: 12 },
    description: 'Completed and reported redemptions. Each writes one event.',
    queries: [
      { expr: `sum by (project) (${rate(`jeton_redemptions_total{${PROJECT}}`)})`, legend: '{{project}}' },
    ],
  },
  {
    ...{ title: 'Delivery attempts by outcome', unit: 'reqps', width: 12 },
    description:
      'Gone: the receiver answered 410. Refused: a private address. Unsent: it could not be signed.',
    queries: [{ expr: `sum by (outcome) (${rate(attempts())})`, legend: '{{outcome}}' }],
  },
  {
    ...{ title: 'Failed attempts by destination', unit: 'percentunit', width: 12 },
    description:
      'Share of attempts that failed: the ten worst destinations. jeton delivery list --failing shows the errors.',
    queries: [
      {
        expr: `topk(10, sum by (project, destination) (${rate(attempts(',outcome!="delivered"'))}) / sum by (project, destination) (${rate(attempts())}))`,
        legend: '{{destination}} {{project}}',
      },
    ],
    thresholds: { green: 0, orange: 0.1, red: 0.5 },
  },
  {
    ...{ title: 'Time from event to arrival', unit: 's', width: 12 },
    description:
      'Of first attempts that succeeded, from the commit of the event to the response of the receiver.',
    queries: percentiles('jeton_delivery_arrival_seconds'),
  },
  {
    ...{ title: 'Due and in flight', unit: 'short', width: 8 },
    description:
      'Due deliveries wait in the store, at most 1,000 are counted per destination. In flight: at most 512 per process.',
    queries: [
      { expr: `max(jeton_deliveries_due{${JOB}})`, legend: 'due' },
      { expr: `sum(jeton_deliveries_in_flight{${JOB}})`, legend: 'in flight' },
    ],
  },
  {
    ...{ title: 'Due deliveries by destination', unit: 'short', width: 8 },
    description: 'The ten destinations with the most due deliveries. Empty if none waits.',
    queries: [
      {
        expr: `topk(10, max by (project, destination) (jeton_destination_deliveries_due{${PROJECT}}))`,
        legend: '{{destination}} {{project}}',
      },
    ],
  },
  {
    ...{ title: 'Oldest due delivery by destination', unit: 's', width: 8 },
    description:
      'The ten destinations that wait longest. A slow receiver shows here before its deliveries fail.',
    queries: [
      {
        expr: `topk(10, max by (project, destination) (jeton_destination_oldest_due_seconds{${PROJECT}}))`,
        legend: '{{destination}} {{project}}',
      },
    ],
    thresholds: { green: 0, orange: 60, red: 300 },
  },
]

const STORE: readonly PanelDescription[] = [
  {
    ...{ title: 'Duration of transactions', unit: 's', width: 12 },
    description: 'By kind, including the wait for a connection. A batch issues tokens or settles deliveries.',
    queries: percentiles('jeton_store_transaction_duration_seconds', 'kind'),
  },
  {
    ...{ title: 'Transactions per second', unit: 'ops', width: 6 },
    description: 'By kind, of all processes together.',
    queries: [
      {
        expr: `sum by (kind) (${rate(`jeton_store_transaction_duration_seconds_count{${JOB}}`)})`,
        legend: '{{kind}}',
      },
    ],
  },
  {
    ...{ title: 'Operations without an answer', unit: 'ops', width: 6 },
    description: 'The store did not answer in time. Requests that need it get 503.',
    queries: [
      {
        expr: `sum by (instance) (${rate(`jeton_store_unavailable_total{${JOB}}`)})`,
        legend: '{{instance}}',
      },
    ],
    thresholds: { green: 0, red: 0.1 },
  },
  {
    ...{ title: 'Age of the key state', unit: 's', width: 6 },
    description: 'By instance. About 1 s; at 30 s the process returns 503.',
    queries: [{ expr: `max by (instance) (jeton_key_state_age_seconds{${JOB}})`, legend: '{{instance}}' }],
    thresholds: { green: 0, orange: 5, red: 10 },
  },
  {
    ...{ title: 'Processor time', unit: 'short', width: 6 },
    description:
      'Cores in use by instance. One process uses one core for JavaScript, and some more for its threads.',
    queries: [
      { expr: `sum by (instance) (${rate(`process_cpu_seconds_total{${JOB}}`)})`, legend: '{{instance}}' },
    ],
  },
  {
    ...{ title: 'Memory', unit: 'bytes', width: 6 },
    description: 'Resident memory and the JavaScript heap, by instance.',
    queries: [
      { expr: `sum by (instance) (process_resident_memory_bytes{${JOB}})`, legend: 'resident {{instance}}' },
      { expr: `sum by (instance) (nodejs_heap_used_bytes{${JOB}})`, legend: 'heap {{instance}}' },
    ],
  },
  {
    ...{ title: 'HTTP processes', unit: 'short', width: 6 },
    description:
      'Processes that serve requests (JETON_WORKERS), and how many were replaced in the last hour.',
    queries: [
      { expr: `sum(jeton_workers{${JOB}})`, legend: 'serving' },
      {
        expr: `sum(increase(jeton_workers_replaced_total{${JOB}}[1h])) or vector(0)`,
        legend: 'replaced in one hour',
      },
    ],
  },
]

/** Rows of the dashboard, with their panels from left to right. */
export const ROWS: readonly RowDescription[] = [
  { title: 'Overview', panels: OVERVIEW },
  { title: 'Tokens', panels: TOKENS },
  { title: 'Deliveries', panels: DELIVERIES },
  { title: 'Store', panels: STORE },
]
