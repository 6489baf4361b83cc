import { type ClaimedDestination, DESTINATION_COLUMNS, type Value } from './exchange.ts'
import { type LiveDestination, rowOf } from './taken-events.ts'

/** For about as many destinations as are sent to at a time. */
const KEPT = 2_000

interface Known {
  /** Of its columns alone: `skips` may be long, and is gone from the store after a moment. */
  readonly values: readonly Value[]
  readonly destination: ClaimedDestination
}

const known = new Map<string, Known>()
const ID = DESTINATION_COLUMNS.indexOf('id')

/**
 * Destinations come with every batch, and are nearly always as they were: then it is the same object, by which its secrets, and
 * all else that was made for it, are found again. Values behind those of its columns do not count.
 */
export function destinationOf(values: readonly Value[]): ClaimedDestination {
  const id = values[ID] as string
  const before = known.get(id)
  if (before && isSame(before.values, values)) return before.destination
  const destination = rowOf<ClaimedDestination>(DESTINATION_COLUMNS, values)
  if (!before && known.size >= KEPT) known.delete(known.keys().next().value!)
  known.set(id, { values: values.slice(0, DESTINATION_COLUMNS.length), destination })
  return destination
}

function isSame(some: readonly Value[], others: readonly Value[]): boolean {
  for (let i = 0; i < DESTINATION_COLUMNS.length; i++) if (some[i] !== others[i]) return false
  return true
}

/** The same for a row. */
export const sameDestination = (row: ClaimedDestination): ClaimedDestination =>
  destinationOf(DESTINATION_COLUMNS.map((name) => row[name]))

let last = { json: Buffer.alloc(0), live: [] as readonly LiveDestination[] }

/** Those of a batch; where they are those of the batch before, it is the same list. */
export function liveIn(json: Uint8Array): readonly LiveDestination[] {
  if (!last.json.equals(json)) last = { json: Buffer.from(json), live: liveOf(json) }
  return last.live
}

const liveOf = (json: Uint8Array): LiveDestination[] =>
  (JSON.parse(new TextDecoder().decode(json)) as Value[][]).map((values) => ({
    destination: destinationOf(values),
    skips: values[DESTINATION_COLUMNS.length] as string,
  }))
