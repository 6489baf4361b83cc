import type { Clock } from '../../platform/clock.ts'
import type { Database, SqliteDatabase, Transaction } from '../../platform/database/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import { sibling } from '../../platform/sibling.ts'
import { claimWaitingEvents, listWaitingEvents, markFannedOutOnPostgres } from '../events/index.ts'
import { insertAllOnPostgres, lookUpByKeyOnPostgres } from './delivery.store.ts'
import { FanOutBatch, type Outlet } from './fan-out-batch.ts'
import { type FanOutMessage, packFannedOut } from './fan-out-message.ts'

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
}

/** What came of it. */
export interface FanOut {
  /** 0 when none wait. */
  readonly events: number
  /** Deliveries that are being sent. */
  readonly kept: number
  /** Those that are left in the store, to be claimed. */
  readonly left: number
}

/**
 * Writes the deliveries and publications of events that wait for it, each event with its mark in one transaction: a
 * crash leaves either all of it or the event waiting. What the outlet has room for is written as claimed, and sent.
 */
export async function fanOut(deps: Deps): Promise<FanOut> {
  const { db, most = EVENTS_AT_ONCE } = deps
  const batch = new FanOutBatch(deps)
  try {
    if (db.engine === 'sqlite') await fanOutOnSqlite(db, batch, most)
    else await db.transaction((tx) => fanOutOnPostgres(tx, batch, most))
  } catch (error) {
    batch.letGo()
    throw error
  }
  batch.begin()
  return { events: batch.made.length, kept: batch.kept, left: batch.left }
}

/**
 * Read beside the one writer, and written in a single turn of it, which leaves alone what another process has marked
 * meanwhile. A destination that comes in between skips these events in any case, since they still wait.
 */
async function fanOutOnSqlite(db: SqliteDatabase, batch: FanOutBatch, most: number): Promise<void> {
  await batch.make(db, await listWaitingEvents(db, most))
  if (batch.made.length === 0) return
  const { now, made } = batch
  const message = { now, events: made.map(packFannedOut) }
  const taken = await db.runProgram<FanOutMessage, string[]>(SQLITE_PROGRAM, message)
  if (taken.length > 0) batch.leaveOut(new Set(taken))
}

async function fanOutOnPostgres(tx: Transaction, batch: FanOutBatch, most: number): Promise<void> {
  await lookUpByKeyOnPostgres(tx)
  await batch.make(tx, await claimWaitingEvents(tx, most))
  const { now, made } = batch
  if (made.length === 0) return
  await insertAllOnPostgres(
    tx,
    'deliveries',
    made.flatMap(({ deliveries }) => deliveries),
  )
  await insertAllOnPostgres(
    tx,
    'publications',
    made.flatMap(({ publications }) => publications),
  )
  await markFannedOutOnPostgres(
    tx,
    made.map(({ event }) => event),
    now,
  )
}
