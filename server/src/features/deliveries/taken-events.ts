import type { WaitingEvent } from '../events/index.ts'
import { type ClaimedDestination, DESTINATION_COLUMNS, type Value } from './exchange.ts'

/** What a longer event tells is read when it is sent, and not before. */
export const SHORT_BYTES = 64 * 1024

export interface Taking {
  readonly claimId: string
  /** Of those that nobody holds, the oldest from this time on: what is before it is known to be gone. */
  readonly from: number
  readonly most: number
}

/** SQLite has no clock of its own. */
export type TakingAt = Taking & { readonly now: number }

/** Events that wait, held by the claim from now on, and everything that is needed to make their deliveries. */
export interface TakenEvents {
  /** The store's time. */
  readonly now: number
  /** Oldest first. */
  readonly events: readonly WaitingEvent[]
  /** Those of their projects that can still be sent to, enabled or not. */
  readonly destinations: readonly LiveDestination[]
  /** Destinations that have something to send which is due. */
  readonly behind: readonly string[]
}

export interface LiveDestination {
  readonly destination: ClaimedDestination
  /** JSON: ids of events that it must not get. */
  readonly skips: string
}

/** As it crosses from the store. */
export interface TakenValues {
  readonly now: number
  readonly parts: readonly TakenPart[]
  /** JSON, in UTF-8: they are nearly always those of the batch before, and then need not be read. */
  readonly destinations: Uint8Array
  readonly behind: readonly string[]
}

/** Some of the events, in one order: row by row they take both stores, and whoever reads them, much longer. */
export interface TakenPart {
  /** JSON: for each of EVENT_COLUMNS the list of its values; of an event that is gone its kind is null. */
  readonly columns: readonly string[]
  /** JSON: the lengths of what they tell in bytes; 0 where that is long, and read later. */
  readonly lengths: string
  /**
   * What they tell, one behind the other. It is only sent on: a text would have to be made of it first, and bytes of that, and the
   * collector would have to move it about.
   */
  readonly told: Uint8Array
}

export const LIVE_COLUMNS = [...DESTINATION_COLUMNS, 'skips'] as const

/** A row has no more than 16 columns: beyond that an object which gets them by name one after the other becomes a slow one. */
export function rowOf<Row>(columns: readonly string[], values: readonly Value[]): Row {
  const row: Record<string, unknown> = {}
  for (let i = 0; i < columns.length; i++) row[columns[i]!] = values[i]
  return row as Row
}
