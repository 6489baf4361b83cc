import type { Database } from '../../platform/database/index.ts'
import { sibling } from '../../platform/sibling.ts'
import type { EventHead, WaitingEvent } from '../events/index.ts'
import { EVENT_COLUMNS } from './exchange.ts'
import { liveIn } from './known-destinations.ts'
import { takeEventsOnPostgres } from './take-events.postgres.ts'
import {
  rowOf,
  type TakenEvents,
  type TakenPart,
  type TakenValues,
  type Taking,
  type TakingAt,
} from './taken-events.ts'

const SQLITE_PROGRAM = sibling(import.meta.url, './take-events.sqlite')

/**
 * One exchange with the store, whatever is found: for every further one the fan-out would wait until all answers that have
 * come meanwhile are read, and with hundreds of sends under way it would be the fan-out that they wait for.
 */
export async function takeEvents(db: Database, taking: Taking): Promise<TakenEvents> {
  const taken =
    db.engine === 'sqlite'
      ? await db.runProgram<TakingAt, TakenValues>(SQLITE_PROGRAM, { ...taking, now: await db.now() })
      : await db.runSql((connection) => takeEventsOnPostgres(connection, taking))
  const { now, parts, behind } = taken
  return {
    now,
    behind,
    events: parts.flatMap(eventsIn).sort(byAge),
    destinations: liveIn(taken.destinations),
  }
}

type Columns = { readonly [Name in keyof EventHead]: readonly EventHead[Name][] }

/** Field by field: made from a list of names, an event takes several times as much memory until it is complete. */
function eventsIn({ columns, lengths, told }: TakenPart): WaitingEvent[] {
  const of = rowOf<Columns>(
    EVENT_COLUMNS,
    columns.map((json) => JSON.parse(json)),
  )
  const events: WaitingEvent[] = []
  let end = 0
  for (const [i, length] of (JSON.parse(lengths) as number[]).entries()) {
    const from = end
    end += length
    if (of.kind[i] === null) continue
    events.push({
      project_id: of.project_id[i]!,
      id: of.id[i]!,
      kind: of.kind[i]!,
      version: of.version[i]!,
      entity_id: of.entity_id[i]!,
      campaign_id: of.campaign_id[i]!,
      group_id: of.group_id[i]!,
      channel: of.channel[i]!,
      key_name: of.key_name[i]!,
      key_app_id: of.key_app_id[i]!,
      occurred_at: of.occurred_at[i]!,
      created_at: of.created_at[i]!,
      data: length > 0 ? told.subarray(from, end) : null,
    })
  }
  return events
}

/** As they wait. */
const QUEUE_ORDER = ['created_at', 'project_id', 'id'] as const

function byAge(a: EventHead, b: EventHead): number {
  for (const name of QUEUE_ORDER) if (a[name] !== b[name]) return a[name] < b[name] ? -1 : 1
  return 0
}
