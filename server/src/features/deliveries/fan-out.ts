import type { Clock } from '../../platform/clock.ts'
import type { Database, SqliteDatabase, Transaction } from '../../platform/database/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import { sibling } from '../../platform/sibling.ts'
import { claimFreeEvents, listFreeEvents } from '../events/index.ts'
import { insertAllOnPostgres, prepareFanOutOnPostgres, releaseEventsOnPostgres } from './delivery.store.ts'
import { LEASE_MS } from './exchange.ts'
import { FanOutBatch, type Outlet } from './fan-out-batch.ts'
import { type FanOutMessage, packFanOut } from './fan-out-message.ts'

/** Events that one transaction takes at most. */
export const EVENTS_AT_ONCE = 400

const SQLITE_PROGRAM = sibling(import.meta.url, './fan-out.sqlite')

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
  readonly clock: Clock
  readonly outlet?: Outlet
  /** Events to take. */
  readonly most?: number
  /** Those that were written from then on; all where it is 0. */
  readonly from?: number
}

/** What came of it. */
export interface FanOut {
  /** 0 when none wait. */
  readonly events: number
  /** Deliveries that are being sent. */
  readonly kept: number
  /** Those that are left in the store, to be claimed. */
  readonly left: number
  /** When the last of the events was written. */
  readonly upTo: number
}

/**
 * Takes events that wait. What the outlet has room for is sent at once: an event all of whose deliveries are goes on
 * waiting, held by a claim, until they are written with how they ended. Of all others the deliveries and publications are
 * written here, each event's in the transaction that takes it out of the queue. Who dies in between leaves a lease that
 * ends, and the event is taken anew, to the same ids and bytes.
 */
export async function fanOut(deps: Deps): Promise<FanOut> {
  const { db, most = EVENTS_AT_ONCE, from = 0 } = deps
  const batch = new FanOutBatch(deps)
  const looked = { from, most, leaseMs: LEASE_MS }
  try {
    if (db.engine === 'sqlite') await fanOutOnSqlite(db, batch, looked)
    else await db.transaction((tx) => fanOutOnPostgres(tx, batch, looked))
  } catch (error) {
    batch.letGo()
    throw error
  }
  batch.begin()
  const { made, kept, left } = batch
  return { events: made.length, kept, left, upTo: made.at(-1)?.event.created_at ?? 0 }
}

type Looked = Parameters<typeof listFreeEvents>[1]

/**
 * Read beside the one writer, and written in a single turn of it, which leaves alone what another process has taken
 * meanwhile. A destination that comes in between skips these events in any case, since they still wait.
 */
async function fanOutOnSqlite(db: SqliteDatabase, batch: FanOutBatch, looked: Looked): Promise<void> {
  await batch.make(db, await listFreeEvents(db, looked, await db.now()))
  if (batch.made.length === 0) return
  const message = packFanOut(batch.made, batch)
  const taken = await db.runProgram<FanOutMessage, string[]>(SQLITE_PROGRAM, message)
  if (taken.length > 0) batch.leaveOut(new Set(taken))
}

async function fanOutOnPostgres(tx: Transaction, batch: FanOutBatch, looked: Looked): Promise<void> {
  await prepareFanOutOnPostgres(tx)
  const events = await claimFreeEvents(tx, looked, batch.claimId)
  await batch.make(tx, events)
  const { made, claimId } = batch
  // Where there were more than one batch may have, the rest is free again.
  const written = made.filter(({ first }) => first === null)
  await insertAllOnPostgres(
    tx,
    'deliveries',
    written.flatMap(({ deliveries }) => deliveries),
  )
  await insertAllOnPostgres(
    tx,
    'publications',
    written.flatMap(({ publications }) => publications),
  )
  await releaseEventsOnPostgres(tx, {
    claimId,
    done: written.map(({ event }) => event),
    free: events.slice(made.length),
  })
}
