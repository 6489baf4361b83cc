import type { WaitingEvent } from '../events/index.ts'
import { type ClaimedDestination, DESTINATION_COLUMNS } from './exchange.ts'

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

export type Value = string | number | null

/** As it crosses from the store: rows as bare lists of values, in the order of their columns. */
export interface TakenValues {
  readonly now: number
  readonly events: readonly (readonly Value[])[]
  readonly told: Told
  /** JSON, in UTF-8: they are nearly always those of the batch before, and then need not be read. */
  readonly destinations: Uint8Array
  readonly behind: readonly string[]
}

/**
 * What each event tells, where that is short: one behind the other, with where each ends (the same as before where it is long). It
 * is only sent on: a text would have to be made of it first, and bytes of that, and the collector would have to move it about.
 */
export interface Told {
  readonly bytes: Uint8Array
  readonly ends: readonly number[]
}

export const LIVE_COLUMNS = [...DESTINATION_COLUMNS, 'skips'] as const

/** A row has no more than 16 columns: beyond that an object which gets them by name one after the other becomes a slow one. */
export function rowOf<Row>(columns: readonly string[], values: readonly Value[]): Row {
  const row: Record<string, unknown> = {}
  for (let i = 0; i < columns.length; i++) row[columns[i]!] = values[i]
  return row as Row
}
