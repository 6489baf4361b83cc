import type { WriterContext } from '../../platform/database/index.ts'
import type { EventRow } from '../events/index.ts'
import {
  CLAIMED_COLUMNS,
  type Claimed,
  type ClaimedRow,
  type ClaimRequest,
  type DestinationId,
  EVENT_COLUMNS,
  LEASE_MS,
  MAX_STORED_ERROR,
  QUEUES_PER_CLAIM,
  type Release,
  type SettleAndClaim,
  type Settlement,
  TARGET_COLUMNS,
  type Target,
} from './delivery-queue.ts'

type Context = Pick<WriterContext, 'prepare'>

/** Runs in the writer thread, in its own transaction. */
export function run(context: Context, input: SettleAndClaim): Claimed {
  const { now, claim } = input
  for (const settlement of input.settlements) settle(context, settlement, now)
  for (const release of input.released) releaseClaim(context, release)
  updateHealth(context, input)
  return claim ? claimDue(context, claim, now) : { now, deliveries: [], events: [], targets: [], next: null }
}

const SETTLE = `update deliveries set status = ?, slot = ?, first_attempt_at = ?, next_attempt_at = ?, settled_at = ?,
  attempts_made = ?, last_status = ?, last_error = substr(?, 1, ${MAX_STORED_ERROR}), claim_id = null
  where project_id = ? and id = ? and claim_id = ?`
const INSERT_ATTEMPT = `insert or ignore into attempts
  (project_id, delivery_id, number, at, duration_ms, status, response_body, error) values (?, ?, ?, ?, ?, ?, ?, ?)`

function settle({ prepare }: Context, settlement: Settlement, now: number): void {
  const { project_id, id, claim_id, status, slot, first_attempt_at, next_attempt_at, attempt } = settlement
  const settledAt = status === 'pending' ? null : now
  const lastStatus = attempt.error === null ? null : attempt.status
  const { changes } = prepare(SETTLE).run(
    ...[
      status,
      slot,
      first_attempt_at,
      next_attempt_at,
      settledAt,
      attempt.number,
      lastStatus,
      attempt.error,
    ],
    ...[project_id, id, claim_id],
  )
  if (changes === 0) return
  const { number, at, duration_ms, response_body, error } = attempt
  prepare(INSERT_ATTEMPT).run(
    ...[project_id, id, number, at, duration_ms, attempt.status, response_body, error],
  )
}

const RELEASE = `update deliveries set claim_id = null, next_attempt_at = ?
  where project_id = ? and id = ? and claim_id = ?`

function releaseClaim({ prepare }: Context, { project_id, id, claim_id, due }: Release): void {
  prepare(RELEASE).run(due, project_id, id, claim_id)
}

const FAILING = `update destinations set failing_since = ?
  where project_id = ? and id = ? and failing_since is null`
const RECOVERED = `update destinations set failing_since = null
  where project_id = ? and id = ? and failing_since is not null`

function updateHealth({ prepare }: Context, { failing, recovered, now }: SettleAndClaim): void {
  for (const { project_id, id } of failing) prepare(FAILING).run(now, project_id, id)
  for (const { project_id, id } of recovered) prepare(RECOVERED).run(project_id, id)
}

/**
 * Finds the next destination with pending deliveries, and when its oldest is due: one seek, however long its queue is.
 * A comparison of pairs would make SQLite read every entry of the queue that is skipped.
 */
const NEXT_QUEUE = `select project_id, destination_id as id, next_attempt_at as due
  from deliveries where status = 'pending'`
const IN_ORDER = 'order by project_id, destination_id, next_attempt_at limit 1'
const NEXT_IN_PROJECT = `${NEXT_QUEUE} and project_id = ? and destination_id > ? ${IN_ORDER}`
const NEXT_PROJECT = `${NEXT_QUEUE} and project_id > ? ${IN_ORDER}`

interface Queue extends DestinationId {
  readonly due: number
}

const nextQueue = ({ prepare }: Context, { project_id, id }: DestinationId): Queue | undefined =>
  (prepare(NEXT_IN_PROJECT).get(project_id, id) ?? prepare(NEXT_PROJECT).get(project_id)) as Queue | undefined

const DUE = `select ${CLAIMED_COLUMNS.join(', ')} from deliveries
  where status = 'pending' and project_id = ? and destination_id = ? and next_attempt_at <= ?
  order by next_attempt_at limit ?`
const TARGET = `select ${TARGET_COLUMNS.join(', ')} from destinations
  where project_id = ? and id = ? and active = 1 and deleted_at is null`
const TAKE = 'update deliveries set claim_id = ?, next_attempt_at = ? where project_id = ? and id = ?'

function claimDue(context: Context, claim: ClaimRequest, now: number): Claimed {
  const { prepare } = context
  const deliveries: ClaimedRow[] = []
  const targets: Target[] = []
  function claimFrom({ project_id, id }: DestinationId, limit: number): void {
    const target = prepare(TARGET).get(project_id, id) as Target | undefined
    if (!target) return
    const due = prepare(DUE).all(project_id, id, now, limit) as never as ClaimedRow[]
    for (const row of due) prepare(TAKE).run(claim.id, now + LEASE_MS, project_id, row.id)
    targets.push(target)
    deliveries.push(...due)
  }
  let next: DestinationId | null = claim.cursor
  for (let visited = 0; next && visited < QUEUES_PER_CLAIM && deliveries.length < claim.limit; visited++) {
    const queue = nextQueue(context, next)
    next = queue ? { project_id: queue.project_id, id: queue.id } : null
    if (!queue || queue.due > now) continue
    const capacity = claim.capacities[queue.id] ?? claim.defaultCapacity
    if (capacity > 0) claimFrom(queue, Math.min(capacity, claim.limit - deliveries.length))
  }
  return { now, deliveries, targets, events: eventsOf(context, deliveries), next }
}

const EVENT = `select ${EVENT_COLUMNS.join(', ')}, data from events where project_id = ? and id = ?`

function eventsOf({ prepare }: Context, deliveries: readonly ClaimedRow[]): EventRow[] {
  const events = new Map<string, EventRow>()
  for (const { project_id, event_id } of deliveries) {
    if (events.has(event_id)) continue
    const event = prepare(EVENT).get(project_id, event_id) as EventRow | undefined
    if (event) events.set(event_id, event)
  }
  return [...events.values()]
}
