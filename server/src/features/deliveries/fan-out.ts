import type { Clock } from '../../platform/clock.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import { newId, type RandomBytes } from '../../platform/secrets.ts'
import { sibling } from '../../platform/sibling.ts'
import { freeEvents } from '../events/index.ts'
import { freeEventsOnPostgres, insertAllOnPostgres, releaseEventsOnPostgres } from './delivery.store.ts'
import { FanOutBatch, type Outlet } from './fan-out-batch.ts'
import { type FanOutMessage, packFanOut, type ToWrite } from './fan-out-message.ts'
import { takeEvents } from './take-events.ts'

/** Events that one batch takes at most. */
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
  /** Of these, deliveries to receivers that take all that they get, and that need not go by the store. */
  readonly leftToQuick: number
  /** When the last of the events was written. */
  readonly upTo: number
}

/**
 * Takes events that wait. What the outlet has room for is sent at once: an event all of whose deliveries are goes on
 * waiting, held by a claim, until they are written with how they ended. Of all others the deliveries and publications are
 * written here, each event's in the transaction that takes it out of the queue, and only while the claim still holds it. Who
 * dies in between leaves a lease that ends, and the event is taken anew, to the same ids and bytes.
 */
export async function fanOut(deps: Deps): Promise<FanOut> {
  const { db, clock, random, outlet, most = EVENTS_AT_ONCE, from = 0 } = deps
  const claimId = newId(random, '')
  const at = clock.monotonic()
  let batch: FanOutBatch | undefined
  try {
    const taken = await takeEvents(db, { claimId, from, most })
    batch = new FanOutBatch({ outlet, claimId, at, taken })
    await batch.make(db)
    const written = batch.made.filter(({ first }) => first === null)
    const free = taken.events.slice(batch.made.length)
    const isOurs =
      written.length + free.length === 0 || (await write(db, { claimId, now: taken.now, written, free }))
    // A lease has ended: what is not sent now falls due at once, if another has not sent it yet.
    if (!isOurs) batch.letGo()
  } catch (error) {
    batch?.letGo()
    // Else they would wait for the end of the lease.
    await db.transaction((tx) => freeEvents(tx, claimId)).catch(() => undefined)
    throw error
  }
  batch.begin()
  const { made, kept, left, leftToQuick } = batch
  return { events: made.length, kept, left, leftToQuick, upTo: made.at(-1)?.event.created_at ?? 0 }
}

/** Whether the claim still held all of them. Of those that it did not, another process takes care. */
async function write(db: Database, toWrite: ToWrite): Promise<boolean> {
  return db.engine === 'postgres'
    ? db.transaction((tx) => writeOnPostgres(tx, toWrite))
    : db.runProgram<FanOutMessage, boolean>(SQLITE_PROGRAM, packFanOut(toWrite))
}

async function writeOnPostgres(tx: Transaction, { claimId, written, free }: ToWrite): Promise<boolean> {
  const held = await releaseEventsOnPostgres(
    tx,
    claimId,
    written.map(({ event }) => event),
  )
  const ours = written.filter(({ event }) => held.has(event.id))
  await insertAllOnPostgres(
    tx,
    'deliveries',
    ours.flatMap(({ deliveries }) => deliveries),
  )
  await insertAllOnPostgres(
    tx,
    'publications',
    ours.flatMap(({ publications }) => publications),
  )
  if (free.length > 0) await freeEventsOnPostgres(tx, claimId, free)
  return ours.length === written.length
}
