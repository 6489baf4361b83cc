import type { Database } from '../../platform/database/index.ts'
import { sibling } from '../../platform/sibling.ts'
import type { EventHead } from '../events/index.ts'
import { EVENT_COLUMNS } from './exchange.ts'
import { liveIn } from './known-destinations.ts'
import { takeEventsOnPostgres } from './take-events.postgres.ts'
import {
  rowOf,
  type TakenEvents,
  type TakenValues,
  type Taking,
  type TakingAt,
  type Told,
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
  const { now, behind } = taken
  return {
    now,
    behind,
    events: taken.events
      .map((values, i) =>
        Object.assign(rowOf<EventHead>(EVENT_COLUMNS, values), { data: toldBy(taken.told, i) }),
      )
      .sort(byAge),
    destinations: liveIn(taken.destinations),
  }
}

function toldBy(told: Told, i: number): Uint8Array | null {
  const [from, to] = [told.ends[i - 1] ?? 0, told.ends[i]!]
  return to > from ? told.bytes.subarray(from, to) : null
}

/** As they wait. */
const QUEUE_ORDER = ['created_at', 'project_id', 'id'] as const

function byAge(a: EventHead, b: EventHead): number {
  for (const name of QUEUE_ORDER) if (a[name] !== b[name]) return a[name] < b[name] ? -1 : 1
  return 0
}
