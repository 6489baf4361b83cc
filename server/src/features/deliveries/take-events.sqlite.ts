import type { StatementSync } from 'node:sqlite'
import type { ProgramContext } from '../../platform/database/index.ts'
import { EVENT_COLUMNS, LEASE_MS } from './exchange.ts'
import { nextInProject } from './exchange-batch.sqlite.ts'
import { LIVE_COLUMNS, SHORT_BYTES, type TakenPart, type TakenValues, type TakingAt } from './taken-events.ts'

/** A lease that lies further ahead than any can was given before the clock was set back: it is over. */
const IS_FREE = '(w.free_at <= ? or w.free_at > ?)'
/** What the queue itself knows of an event; of one that is gone, all that is known. */
const QUEUED: Partial<Record<string, string>> = {
  created_at: 'w.created_at',
  project_id: 'w.project_id',
  id: 'w.event_id',
}
const KEY = '(w.created_at, w.project_id, w.event_id)'
const KEYS = `select created_at, project_id, event_id from waiting_events w
  where w.created_at >= ? and ${IS_FREE} order by created_at, project_id, event_id limit ?`
const TOLD = `iif(octet_length(e.data) <= ${SHORT_BYTES}, e.data, '')`
/** Each with its event, which may be gone. */
const PART = `select cast(group_concat(${TOLD}, '') as blob), json_group_array(iif(octet_length(e.data) <= ${SHORT_BYTES}, octet_length(e.data), 0)),
    ${EVENT_COLUMNS.map((name) => `json_group_array(${QUEUED[name] ?? `e.${name}`})`).join(', ')}
  from waiting_events w left join events e on e.project_id = w.project_id and e.id = w.event_id
  where ${IS_FREE} and ${KEY} >= (?, ?, ?) and ${KEY} <= (?, ?, ?)`
const HOLD = `update waiting_events as w set claim_id = ?, free_at = ?
  where ${IS_FREE} and ${KEY} >= (?, ?, ?) and ${KEY} <= (?, ?, ?)`
const LIVE = `select count(*), cast(group_concat(json_array(${LIVE_COLUMNS.join(', ')})) as blob) from destinations
  where project_id = ? and deleted_at is null`

/** So much is read at once, beside the last part, and the first project: whoever wants to write waits meanwhile. */
const BYTES_MOST = 4 * 1024 * 1024
const DESTINATIONS_MOST = 500
/** Half as long, at most. */
const EVENTS_IN_PART = BYTES_MOST / SHORT_BYTES / 2

type Key = [created_at: number, project_id: string, event_id: string]

/** Runs inside the SQLite thread, in a transaction of its own. */
export function run(context: ProgramContext, { claimId, now, from, most }: TakingAt): TakenValues {
  const leaseEnds = now + LEASE_MS
  const isFree = [now, leaseEnds + LEASE_MS] as const
  const keys = listed(context, KEYS).all(from, ...isFree, most) as never as Key[]
  const { destinations, behind, among } = subscribersOf(context, keys, now)
  const parts: TakenPart[] = []
  let [taken, bytes] = [0, 0]
  while (taken < among && bytes < BYTES_MOST) {
    const first = keys[taken]!
    taken = Math.min(taken + EVENTS_IN_PART, among)
    const [told, lengths, ...columns] = listed(context, PART).get(
      ...isFree,
      ...first,
      ...keys[taken - 1]!,
    ) as never as ReadPart
    bytes += told.length
    parts.push({ columns, lengths, told: context.move(told) })
  }
  if (taken > 0) context.prepare(HOLD).run(claimId, leaseEnds, ...isFree, ...keys[0]!, ...keys[taken - 1]!)
  return { now, parts, behind, destinations: context.move(listOf(destinations)) }
}

type ReadPart = [told: Uint8Array<ArrayBuffer>, lengths: string, ...columns: string[]]

function listed({ prepare }: ProgramContext, sql: string): StatementSync {
  const statement = prepare(sql)
  statement.setReturnArrays(true)
  return statement
}

/** Of the projects of the first events, taken or not: of so many that no more is read than may be. */
function subscribersOf(context: ProgramContext, keys: readonly Key[], now: number) {
  const live = listed(context, LIVE)
  const projects = new Set<string>()
  const destinations: Uint8Array[] = []
  const behind: string[] = []
  let [among, read] = [0, 0]
  for (const [, projectId] of keys) {
    if (!projects.has(projectId)) {
      if (read > DESTINATIONS_MOST) break
      projects.add(projectId)
      const [count, rows] = live.get(projectId) as never as [number, Uint8Array | null]
      read += count
      if (rows) destinations.push(rows)
      for (const { id, due } of queuesIn(context, projectId)) {
        read++
        if (due <= now) behind.push(id)
      }
    }
    among++
  }
  return { destinations, behind, among }
}

const [OPENS, PARTS, CLOSES] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer]

const listOf = (parts: readonly Uint8Array[]) =>
  joined([OPENS, ...parts.flatMap((part, i) => (i === 0 ? [part] : [PARTS, part])), CLOSES])

/** In a buffer of their own. */
function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let length = 0
  for (const part of parts) length += part.length
  const bytes = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** From queue to queue, never through one: where all goes well there is none. */
function* queuesIn({ prepare }: ProgramContext, project_id: string) {
  let queue = nextInProject({ prepare }, { project_id, id: '' })
  while (queue) {
    yield queue
    queue = nextInProject({ prepare }, queue)
  }
}
