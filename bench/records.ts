/**
 * The records of a project, as statements of SQL that both engines read alike. They lie so that a list which reads past
 * what it was not asked for must show it: what is rare is the oldest of all, and one customer has half of everything.
 */
export interface Records {
  readonly projectId: string
  readonly keyId: string
  /** Of events, and of whatever there is one of for each. */
  readonly count: number
  /** When the first was made, and how far each is from the one before. */
  readonly firstAt: number
  readonly stepMs: number
}

interface Table {
  readonly name: string
  readonly rows: number
  /** By column; `i` is the number of the row, from 0. */
  readonly values: Readonly<Record<string, string>>
}

/** As many as took longest when deliveries were first listed by their status. */
export const DESTINATIONS = 300
const KEYS = 1_000
const RARE = 100
const EXHAUSTED = 20_000
/** Of those that were sent last, what goes to destinations that take nothing still waits. */
const WAITING = 100_000
/** One of so many waits elsewhere: a prime, so that every destination has some. */
const WAITING_OF = 199
/** Nothing of what waits falls due while lists are asked for. */
const DUE_IN_MS = 24 * 3_600_000

/** Ids begin with the time and are as long as real ones. */
export const idOf = (prefix: string, number: number): string => prefix + String(number).padStart(16, '0')

const id = (prefix: string, number = 'i'): string =>
  `'${prefix}' || substr(cast(10000000000000000 + ${number} as text), 2)`
const json = (bytes: number): string => `'{"x":"${'x'.repeat(bytes)}"}'`

/** One that is disabled or deleted, of every ten. */
const isDisabled = (place: string) => `${place} % 20 = 10`
const isDeleted = (place: string) => `${place} % 20 = 0`

function destinations({ projectId, firstAt }: Records): Table {
  const values = {
    project_id: `'${projectId}'`,
    id: id('whk_'),
    kind: `'webhook'`,
    headers: `'{}'`,
    target_url: `'https://receiver.example/'`,
    events: `'[]'`,
    active: `case when ${isDisabled('i')} then 0 else 1 end`,
    secret: `''`,
    secret_last4: `''`,
    created_at: `${firstAt} + i`,
    updated_at: `${firstAt} + i`,
    deleted_at: `case when ${isDeleted('i')} then ${firstAt} end`,
  }
  return { name: 'destinations', rows: DESTINATIONS, values }
}

function events({ projectId, count, firstAt, stepMs }: Records): Table {
  const at = `${firstAt} + i * ${stepMs}`
  const values = {
    project_id: `'${projectId}'`,
    id: id('evt_'),
    kind: `case when i < ${RARE} then 'webhook.test' else 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED' end`,
    version: `'2024-01-01'`,
    entity_id: `case when i % 2 = 0 then ${id('cust_', '0')} else ${id('cust_', 'i % 10000')} end`,
    channel: `'API'`,
    data: json(500),
    occurred_at: at,
    created_at: at,
  }
  return { name: 'events', rows: count, values }
}

function deliveries({ projectId, count, firstAt, stepMs }: Records): Table {
  const at = `${firstAt} + i * ${stepMs}`
  const place = `(i % ${DESTINATIONS})`
  const isLate = `i >= ${count - Math.min(WAITING, count / 2)}`
  const isWaiting = `(${isLate} and ${place} % 10 = 0 or i % ${WAITING_OF} = 7)`
  const isExhausted = `i < ${Math.min(EXHAUSTED, count / 10)}`
  const values = {
    project_id: `'${projectId}'`,
    id: id('whs_'),
    event_id: id('evt_'),
    destination_id: id('whk_', place),
    status: `case when ${isExhausted} then 'exhausted' when ${isWaiting} then 'pending' else 'delivered' end`,
    head: json(200),
    tail: json(50),
    attempts_made: '1',
    slot: '1',
    next_attempt_at: `case when ${isExhausted} then null when ${isWaiting} then ${Date.now() + DUE_IN_MS} end`,
    created_at: at,
    settled_at: at,
  }
  return { name: 'deliveries', rows: count, values }
}

function publications({ projectId, count, firstAt, stepMs }: Records): Table {
  const values = {
    project_id: `'${projectId}'`,
    id: id('pub_'),
    event_id: id('evt_'),
    distribution_id: id('whk_', '1'),
    customer_id: `case when i % 2 = 0 then ${id('cust_', '0')} else ${id('cust_', 'i % 10000')} end`,
    data: json(500),
    created_at: `${firstAt} + i * ${stepMs}`,
  }
  return { name: 'publications', rows: count, values }
}

/** Half of them of other projects. */
function audit({ projectId, count, firstAt, stepMs }: Records): Table {
  const values = {
    id: id('aud_'),
    at: `${firstAt} + i * ${stepMs}`,
    actor_type: `'operator'`,
    actor_id: `case when i < ${RARE} then 'op_rare' else 'op_usual' end`,
    action: `case when i < ${RARE} then 'project.renamed' else 'api_key.updated' end`,
    project_id: `case when i % 2 = 0 then '${projectId}' else ${id('proj_', 'i % 1000')} end`,
    subject_type: `'api_key'`,
    subject_id: id('key_', 'i % 10000'),
    after: json(200),
  }
  return { name: 'audit_log', rows: count, values }
}

/** Like the one that is there. */
function apiKeys({ projectId, keyId, firstAt }: Records): Table {
  const same = (column: string) =>
    `(select ${column} from api_keys where project_id = '${projectId}' and id = '${keyId}')`
  const copied = ['secret_digest', 'permissions', 'ip_whitelist', 'credits', 'epoch', 'version']
  const values = {
    project_id: `'${projectId}'`,
    id: id('key_'),
    name: id('key '),
    app_id: id('app-'),
    client_id: id('client-'),
    secret_last4: `'1234'`,
    state: `case when i < 10 then 'blocked' else 'active' end`,
    ...Object.fromEntries(copied.map((column) => [column, same(column)])),
    changed_at: `${firstAt} + i`,
    created_at: `${firstAt} + i`,
    updated_at: `${firstAt} + i`,
  }
  return { name: 'api_keys', rows: KEYS, values }
}

export const tablesOf = (records: Records): Table[] =>
  [destinations, events, deliveries, publications, audit, apiKeys].map((table) => table(records))
