import { notFound } from '../../contract/problem.ts'
import type { Database } from '../../platform/database/index.ts'
import type { DeliveryRow } from './delivery.ts'
import type { DeliveryHead } from './delivery-list.store.ts'
import {
  findContexts,
  findDeliveryHeads,
  listDeliveriesOfEvent,
  listRecoverable,
  type RecoverableRow,
} from './delivery-record.store.ts'
import type { DestinationState, Recoverable } from './delivery-status.ts'
import { destinationsWith, findDestinationStates } from './destination-state.store.ts'
import { type FailureFilter, matchesFailure } from './failure.store.ts'
import { isInProgress, ROWS_PER_TRANSACTION } from './reopen-deliveries.ts'
import { refuseDeleted } from './retry-delivery.ts'

/** Which deliveries a recovery takes: those that it names, or those that match all of the rest. */
export interface RecoveryFilter {
  readonly projectId: string
  readonly ids?: readonly string[] | undefined
  /** The last attempt failed at this time or later; epoch milliseconds. */
  readonly since?: number | undefined
  readonly destination?: string | undefined
  readonly event?: string | undefined
  readonly failure: FailureFilter
  /** Created between these times. */
  readonly from?: number | undefined
  readonly to?: number | undefined
  /** Where an earlier call ended. Only with filters. */
  readonly after?: RecoveryPosition | undefined
}

/** States in the order in which they are recovered. */
export const RECOVERY_ORDER: readonly Recoverable[] = ['failing', 'exhausted']

/** The last delivery that was visited: by state, then by destination, then by time. */
export interface RecoveryPosition extends Pick<DeliveryRow, 'created_at' | 'id'> {
  readonly state: Recoverable
  readonly destinationId: string
}

export interface Candidates {
  readonly state: Recoverable
  readonly destination: DestinationState
  readonly ids: readonly string[]
  readonly last: RecoveryPosition
}

/** Deliveries in a state that match, in batches of one destination that one transaction can change. */
export async function* candidatesIn(
  db: Database,
  filter: RecoveryFilter,
  state: Recoverable,
): AsyncGenerator<Candidates> {
  const { after } = filter
  if (after && RECOVERY_ORDER.indexOf(state) < RECOVERY_ORDER.indexOf(after.state)) return
  const named = await namedDeliveries(db, filter)
  for (const destination of await destinationsOf(db, filter, { state, named })) {
    if (after?.state === state && destination.id < after.destinationId) continue
    const found = { state, destination }
    const pages = named
      ? pagesOf(named.filter((row) => row.destination_id === destination.id && isIn(state, row)))
      : readPages(db, filter, found)
    for await (const page of pages) {
      const ids = await recoverableIds(db, filter, page)
      if (ids.length === 0) continue
      const { created_at, id } = page.at(-1)!
      yield { ...found, ids, last: { state, destinationId: destination.id, created_at, id } }
    }
  }
}

const isIn = (state: Recoverable, { status, attempts_made }: DeliveryHead): boolean =>
  state === 'exhausted' ? status === 'exhausted' : status === 'pending' && attempts_made > 0

async function recoverableIds(db: Database, { since }: RecoveryFilter, page: readonly RecoverableRow[]) {
  const now = await db.now()
  return page
    .filter((row) => since === undefined || (row.failed_at ?? 0) >= since)
    .filter((row) => !isInProgress(row, now))
    .map(({ id }) => id)
}

type NamedRow = DeliveryHead & RecoverableRow

/** By id or by event: few, so the rest is checked here. Undefined where neither is given. */
async function namedDeliveries(db: Database, filter: RecoveryFilter): Promise<NamedRow[] | undefined> {
  const { projectId, ids, event, failure, from = 0, to = Number.POSITIVE_INFINITY } = filter
  if ((ids ?? event) === undefined) return undefined
  const rows = ids
    ? await findDeliveryHeads(db, projectId, ids)
    : await listDeliveriesOfEvent(db, projectId, event!)
  const matching = rows.filter(
    (row) => matchesFailure(row, failure) && row.created_at >= from && row.created_at < to,
  )
  const attempts = new Map(
    (await findContexts(db, projectId, matching)).map((one) => [one.id, one.last_attempt?.at ?? null]),
  )
  return matching.map((row) => ({ ...row, failed_at: row.settled_at ?? attempts.get(row.id) ?? null }))
}

function* pagesOf(rows: readonly NamedRow[]): Generator<readonly NamedRow[]> {
  for (let i = 0; i < rows.length; i += ROWS_PER_TRANSACTION) yield rows.slice(i, i + ROWS_PER_TRANSACTION)
}

/** Each page begins behind the one before: a delivery that fails again meanwhile is not taken twice. */
async function* readPages(
  db: Database,
  { projectId, failure, from, to, after: start }: RecoveryFilter,
  { state, destination }: Pick<Candidates, 'state' | 'destination'>,
): AsyncGenerator<readonly RecoverableRow[]> {
  const destinationId = destination.id
  let after: Pick<DeliveryRow, 'created_at' | 'id'> | undefined =
    start?.state === state && start.destinationId === destinationId ? start : undefined
  do {
    const run = { projectId, destinationId, state, failure, from, to, after }
    const page = await listRecoverable(db, run, ROWS_PER_TRANSACTION)
    yield page
    after = page.length === ROWS_PER_TRANSACTION ? page.at(-1) : undefined
  } while (after)
}

async function destinationsOf(
  db: Database,
  { projectId, destination: id }: RecoveryFilter,
  { state, named }: { state: Recoverable; named: readonly NamedRow[] | undefined },
): Promise<DestinationState[]> {
  // Failed deliveries of a disabled destination are held, and are sent by enabling it.
  const canFail = ({ active }: DestinationState) => state !== 'failing' || active === 1
  if (id === undefined) {
    const all = named
      ? await findDestinationStates(db, projectId, [...new Set(named.map((row) => row.destination_id))])
      : await destinationsWith(db, projectId, state)
    const inOrder = all.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    return inOrder.filter((one) => one.deleted_at === null && canFail(one))
  }
  const [destination] = await findDestinationStates(db, projectId, [id])
  if (!destination) throw notFound('destination', id)
  refuseDeleted(destination, { destination_id: id })
  return [destination].filter(canFail)
}
