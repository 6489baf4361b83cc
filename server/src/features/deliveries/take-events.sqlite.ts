import type { ProgramContext } from '../../platform/database/index.ts'
import { EVENT_COLUMNS, LEASE_MS } from './exchange.ts'
import { nextInProject } from './exchange-batch.sqlite.ts'
import { LIVE_COLUMNS, SHORT_BYTES, type TakenValues, type TakingAt } from './taken-events.ts'

/** A lease that lies further ahead than any can was given before the clock was set back: it is over. */
const IS_FREE = 'w.created_at >= ? and (free_at <= ? or free_at > ?)'
/** What the queue itself knows of an event; of one that is gone, all that is known. */
const QUEUED: Partial<Record<string, string>> = {
  created_at: 'w.created_at',
  project_id: 'w.project_id',
  id: 'w.event_id',
}
/** Each with its event, which may be gone; one after the other, in the order of the queue, so that it may end anywhere. */
const FREE = `select ${EVENT_COLUMNS.map((name) => QUEUED[name] ?? `e.${name}`).join(', ')},
    case when octet_length(e.data) <= ${SHORT_BYTES} then cast(e.data as blob) end
  from waiting_events w left join events e on e.project_id = w.project_id and e.id = w.event_id
  where ${IS_FREE} order by w.created_at, w.project_id, w.event_id limit ?`
const HOLD = `update waiting_events as w set claim_id = ?, free_at = ?
  where ${IS_FREE} and (created_at, project_id, event_id) <= (?, ?, ?)`
const LIVE = `select count(*), cast(group_concat(json_array(${LIVE_COLUMNS.join(', ')})) as blob) from destinations
  where project_id = ? and deleted_at is null`

/** So much is read at once, beside the first of each: whoever wants to write waits meanwhile. */
const BYTES_MOST = 4 * 1024 * 1024
const DESTINATIONS_MOST = 500

type Values = TakenValues['events'][number]
type Key = [created_at: number, project_id: string, event_id: string]
const [CREATED_AT, PROJECT_ID, ID, KIND] = (['created_at', 'project_id', 'id', 'kind'] as const).map((name) =>
  EVENT_COLUMNS.indexOf(name),
) as [number, number, number, number]

/** Runs inside the SQLite thread, in a transaction of its own. */
export function run(context: ProgramContext, { claimId, now, from, most }: TakingAt): TakenValues {
  const listed = (sql: string) => {
    const statement = context.prepare(sql)
    statement.setReturnArrays(true)
    return statement
  }
  const [free, live] = [listed(FREE), listed(LIVE)]
  const leaseEnds = now + LEASE_MS
  const isFree = [from, now, leaseEnds + LEASE_MS] as const
  const events: Values[] = []
  const told = new Parts()
  const projects = new Set<string>()
  const destinations: Uint8Array[] = []
  const behind: string[] = []
  let [counted, walked] = [0, 0]
  let last: Key | undefined
  for (const row of free.iterate(...isFree, most)) {
    const values = row as never as [...Values, Uint8Array | null]
    const key = [values[CREATED_AT], values[PROJECT_ID], values[ID]] as Key
    const projectId = key[1]
    const isNew = !projects.has(projectId)
    if (told.length > BYTES_MOST || (isNew && counted + walked > DESTINATIONS_MOST)) break
    last = key
    if (values[KIND] === null) continue
    told.add(values.pop() as Uint8Array | null)
    events.push(values as Values)
    if (!isNew) continue
    projects.add(projectId)
    const [count, rows] = live.get(projectId) as never as [number, Uint8Array | null]
    counted += count
    if (rows) destinations.push(rows)
    for (const { id, due } of queuesIn(context, projectId)) {
      walked++
      if (due <= now) behind.push(id)
    }
  }
  if (last) context.prepare(HOLD).run(claimId, leaseEnds, ...isFree, ...last)
  const { move } = context
  return {
    ...{ now, events, behind },
    told: { bytes: move(told.joined()), ends: told.ends },
    destinations: move(listOf(destinations)),
  }
}

const [OPENS, PARTS, CLOSES] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer]

const listOf = (parts: readonly Uint8Array[]) =>
  joined([OPENS, ...parts.flatMap((part, i) => (i === 0 ? [part] : [PARTS, part])), CLOSES])

class Parts {
  readonly #parts: Uint8Array[] = []
  readonly ends: number[] = []
  length = 0

  add(part: Uint8Array | null): void {
    if (part) this.#parts.push(part)
    this.length += part?.length ?? 0
    this.ends.push(this.length)
  }

  joined(): Uint8Array<ArrayBuffer> {
    return joined(this.#parts)
  }
}

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
