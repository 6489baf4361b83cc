import type { EventHead } from '../events/index.ts'
import type { DeliveryRow, PublicationRow } from './delivery.ts'
import type { Value } from './exchange.ts'
import type { First } from './first-sends.ts'

/** An event with everything that is to be written for it: now, or once it was sent. */
export interface FannedOut {
  readonly event: EventHead
  /** It is sent before it is written. */
  readonly first: First | null
  readonly deliveries: DeliveryRow[]
  readonly publications: PublicationRow[]
}

/** What is left to do of a batch once it is made: its events are held by the claim. */
export interface ToWrite {
  readonly claimId: string
  readonly now: number
  /** Their deliveries are written, and they wait no more. */
  readonly written: readonly FannedOut[]
  /** There were more than one batch may have: they wait, and nobody holds them. */
  readonly free: readonly EventHead[]
}

/** What crosses to the SQLite thread: rows as bare lists of values, without what is the same in all of them. */
export interface FanOutMessage {
  readonly now: number
  readonly claimId: string
  /** They wait, and nobody holds them. */
  readonly free: readonly EventKey[]
  readonly events: readonly {
    readonly key: EventKey
    readonly deliveries: readonly Value[][]
    readonly publications: readonly Value[][]
  }[]
}

/** Its time, project and id. */
type EventKey = readonly [number, string, string]

/** What differs between the deliveries of an event. */
export const DELIVERY = [
  ...['id', 'destination_id', 'head', 'tail', 'next_attempt_at', 'claim_id'],
] as const satisfies (keyof DeliveryRow)[]
export const PUBLICATION = [
  ...['id', 'distribution_id', 'customer_id', 'data', 'created_at'],
] as const satisfies (keyof PublicationRow)[]

export const packFanOut = ({ now, claimId, written, free }: ToWrite): FanOutMessage => ({
  now,
  claimId,
  free: free.map(keyOf),
  events: written.map(packFannedOut),
})

const keyOf = (event: EventHead): EventKey => [event.created_at, event.project_id, event.id]

const packFannedOut = (made: FannedOut) => ({
  key: keyOf(made.event),
  deliveries: made.deliveries.map((row) => DELIVERY.map((name) => row[name])),
  publications: made.publications.map((row) => PUBLICATION.map((name) => row[name])),
})
