import type { ProgramContext } from '../../platform/database/index.ts'
import { LEASE_MS } from './exchange.ts'
import { nextInProject } from './exchange-batch.sqlite.ts'
import { EVENT_COLUMNS, LIVE_COLUMNS, SHORT_BYTES, type TakenValues, type Taking } from './taken-events.ts'

/** A lease that lies further ahead than any can was given before the clock was set back: it is over. */
const FREE = `select created_at, project_id, event_id from waiting_events
  where created_at >= ? and (free_at <= ? or free_at > ?) order by created_at, project_id, event_id limit ?`
const HOLD =
  'update waiting_events set claim_id = ?, free_at = ? where created_at = ? and project_id = ? and event_id = ?'
const EVENT = `select ${EVENT_COLUMNS.slice(0, -1).join(', ')}, case when octet_length(data) <= ${SHORT_BYTES} then data end
  from events where project_id = ? and id = ?`
const LIVE = `select ${LIVE_COLUMNS.join(', ')} from destinations where project_id = ? and deleted_at is null`

/** So much is read at once, beside the first: the one writer waits meanwhile. */
const BYTES_MOST = 4 * 1024 * 1024

type Values = TakenValues['events'][number]

/** Runs inside the SQLite thread, in a transaction of its own. */
export function run(context: ProgramContext, { claimId, now, from, most }: Taking): TakenValues {
  const listed = (sql: string) => {
    const statement = context.prepare(sql)
    statement.setReturnArrays(true)
    return statement
  }
  const [free, event, live] = [listed(FREE), listed(EVENT), listed(LIVE)]
  const hold = context.prepare(HOLD)
  const ends = now + LEASE_MS
  const events: Values[] = []
  const projects = new Set<string>()
  let bytes = 0
  for (const key of free.all(from, now, ends + LEASE_MS, most) as never as [number, string, string][]) {
    if (bytes > BYTES_MOST) break
    const [, projectId, eventId] = key
    const values = event.get(projectId, eventId) as never as Values | undefined
    if (!values) continue
    hold.run(claimId, ends, ...key)
    events.push(values)
    projects.add(projectId)
    bytes += String(values.at(-1) ?? '').length
  }
  const ofProjects = <T>(list: (projectId: string) => T[]): T[] => [...projects].flatMap(list)
  return {
    now,
    events,
    destinations: ofProjects((id) => live.all(id) as never as Values[]),
    behind: ofProjects((id) => behindIn(context, id, now)),
  }
}

/** From queue to queue, never through one: where all goes well there is none. */
function behindIn({ prepare }: ProgramContext, project_id: string, now: number): string[] {
  const behind: string[] = []
  let queue = nextInProject({ prepare }, { project_id, id: '' })
  while (queue) {
    if (queue.due <= now) behind.push(queue.id)
    queue = nextInProject({ prepare }, queue)
  }
  return behind
}
