import type { ProgramContext } from '../../platform/database/index.ts'
import {
  type ClaimedDestination,
  type ClaimedEvent,
  DESTINATION_COLUMNS,
  type DestinationId,
  EVENT_COLUMNS,
  type GivenBack,
  LEASE_MS,
  type Value,
  WALK_MOST,
} from './exchange.ts'
import {
  CLAIMED,
  type ClaimedValues,
  type ExchangeMessage,
  type ExchangeReply,
  type FirstValues,
  HELD_LENGTH,
  type SettlementValues,
  WRITTEN,
} from './exchange-message.ts'

/** Runs inside the SQLite thread, in a transaction of its own. */
export function run(context: ProgramContext, input: ExchangeMessage): ExchangeReply {
  writeFirsts(context, input.firsts, input.now)
  for (const one of input.settlements) settle(context, one, input.now)
  for (const one of input.givenBack) giveBack(context, one)
  mark(context, input)
  return claim(context, input)
}

const RELEASE =
  'delete from waiting_events where created_at = ? and project_id = ? and event_id = ? and claim_id = ?'
const INSERT = `insert or ignore into deliveries (project_id, event_id, settled_at, ${WRITTEN.join(', ')})
  values (?, ?, ?, ${WRITTEN.map(() => '?').join(', ')})`
const STATUS = WRITTEN.indexOf('status')
const INSERT_ATTEMPT = `insert or ignore into attempts (project_id, delivery_id, number, at, duration_ms, status, response_body, error)
  values (?, ?, ?, ?, ?, ?, ?, ?)`

/** What was sent before it was written: only where the event still waits, held by the same claim. */
function writeFirsts({ prepare }: ProgramContext, firsts: FirstValues, now: number): void {
  const [release, insert] = [prepare(RELEASE), prepare(INSERT)]
  let at = 0
  while (at < firsts.length) {
    const held = firsts.slice(at, at + HELD_LENGTH)
    const [, project_id, event_id] = held as [Value, Value, Value]
    const deliveries = firsts[at + HELD_LENGTH] as number
    const isHeld = release.run(...held).changes !== 0
    at += HELD_LENGTH + 1
    const end = at + deliveries * WRITTEN.length
    for (; at < end; at += WRITTEN.length) {
      const settled = firsts[at + STATUS] === 'pending' ? null : now
      if (isHeld) insert.run(project_id, event_id, settled, ...firsts.slice(at, at + WRITTEN.length))
    }
  }
}

function settle({ prepare }: ProgramContext, values: SettlementValues, now: number): void {
  const [project_id, id, claim_id, status, slot, first_attempt_at, next_attempt_at, number, ...attempt] =
    values as [string, string, ...SettlementValues]
  const settled = status === 'pending' ? null : now
  const { changes } = prepare(
    `update deliveries set status = ?, slot = ?, first_attempt_at = ?, next_attempt_at = ?, settled_at = ?,
      attempts_made = ?, claim_id = null where project_id = ? and id = ? and claim_id = ?`,
  ).run(
    ...[status!, slot!, first_attempt_at!, next_attempt_at!, settled, number!],
    ...[project_id, id, claim_id!],
  )
  if (changes === 0) return
  prepare(INSERT_ATTEMPT).run(project_id, id, number!, ...attempt)
}

function giveBack({ prepare }: ProgramContext, { project_id, id, claim_id, due }: GivenBack): void {
  prepare(
    'update deliveries set claim_id = null, next_attempt_at = ? where project_id = ? and id = ? and claim_id = ?',
  ).run(due, project_id, id, claim_id)
}

function mark({ prepare }: ProgramContext, { failing, recovered, now }: ExchangeMessage): void {
  for (const { project_id, id } of failing)
    prepare(
      'update destinations set failing_since = ? where project_id = ? and id = ? and failing_since is null',
    ).run(now, project_id, id)
  for (const { project_id, id } of recovered)
    prepare(
      'update destinations set failing_since = null where project_id = ? and id = ? and failing_since is not null',
    ).run(project_id, id)
}

/**
 * The oldest of the destination that comes next: one seek, however many it has. Not by comparing pairs, for which SQLite
 * goes through every entry of the queue that it is to leave.
 */
const QUEUE = `select project_id, destination_id as id, next_attempt_at as due from deliveries where status = 'pending'`
const IN_ORDER = 'order by project_id, destination_id, next_attempt_at limit 1'
const NEXT_IN_PROJECT = `${QUEUE} and project_id = ? and destination_id > ? ${IN_ORDER}`
const NEXT_PROJECT = `${QUEUE} and project_id > ? ${IN_ORDER}`
const DUE = `select ${CLAIMED.join(', ')} from deliveries
  where status = 'pending' and project_id = ? and destination_id = ? and next_attempt_at <= ?
  order by next_attempt_at limit ?`
const DESTINATION = `select ${DESTINATION_COLUMNS.join(', ')} from destinations
  where project_id = ? and id = ? and active = 1 and deleted_at is null`

interface Queue extends DestinationId {
  /** When its oldest delivery is due. */
  readonly due: number
}

type Preparing = Pick<ProgramContext, 'prepare'>

/** The queue of the project that comes behind this one, if there is one. */
export const nextInProject = ({ prepare }: Preparing, { project_id, id }: DestinationId): Queue | undefined =>
  prepare(NEXT_IN_PROJECT).get(project_id, id) as Queue | undefined

const keyOf = (...parts: string[]): string => parts.join(' ')

function claim({ prepare }: ProgramContext, { now, claim: asked }: ExchangeMessage): ExchangeReply {
  const rooms = new Map(asked.rooms.map(({ project_id, id, room }) => [keyOf(project_id, id), room]))
  const deliveries: ClaimedValues[] = []
  const destinations: ClaimedDestination[] = []
  const take = prepare(
    'update deliveries set claim_id = ?, next_attempt_at = ? where project_id = ? and id = ?',
  )

  function takeFrom({ project_id, id }: DestinationId, room: number): void {
    const destination = prepare(DESTINATION).get(project_id, id) as ClaimedDestination | undefined
    if (!destination) return
    const read = prepare(DUE)
    read.setReturnArrays(true)
    const due = read.all(project_id, id, now, room) as never as ClaimedValues[]
    for (const [, deliveryId] of due) take.run(asked.id, now + LEASE_MS, project_id, deliveryId!)
    destinations.push(destination)
    deliveries.push(...due)
  }

  const nextQueue = (behind: DestinationId): Queue | undefined =>
    nextInProject({ prepare }, behind) ?? (prepare(NEXT_PROJECT).get(behind.project_id) as Queue | undefined)

  let at: DestinationId | null = asked.after
  for (let walked = 0; at && walked < WALK_MOST && deliveries.length < asked.most; walked++) {
    const queue = nextQueue(at)
    at = queue ? { project_id: queue.project_id, id: queue.id } : null
    if (!queue || queue.due > now) continue
    const room = rooms.get(keyOf(queue.project_id, queue.id)) ?? asked.share
    if (room > 0) takeFrom(queue, Math.min(room, asked.most - deliveries.length))
  }
  return { now, deliveries, destinations, events: eventsOf({ prepare }, deliveries), next: at }
}

function eventsOf({ prepare }: Preparing, deliveries: readonly ClaimedValues[]): ClaimedEvent[] {
  const read = prepare(`select ${EVENT_COLUMNS.join(', ')}, data from events where project_id = ? and id = ?`)
  const events = new Map<string, ClaimedEvent>()
  for (const [projectId, , eventId] of deliveries as [string, string, string][]) {
    const key = keyOf(projectId, eventId)
    if (!events.has(key)) events.set(key, read.get(projectId, eventId) as never as ClaimedEvent)
  }
  return [...events.values()]
}
