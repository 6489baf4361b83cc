import type { EventHead } from '../events/index.ts'
import type { DeliveryRow, PublicationRow } from './delivery.ts'
import type { First } from './first-sends.ts'

/** An event with everything that is to be written for it: now, or once it was sent. */
export interface FannedOut {
  readonly event: EventHead
  /** It is sent before it is written. */
  readonly first: First | null
  readonly deliveries: DeliveryRow[]
  readonly publications: PublicationRow[]
}

type Value = string | number | null

/** What crosses to the SQLite thread: rows as bare lists of values, without what is the same in all of them. */
export interface FanOutMessage {
  readonly now: number
  readonly claimId: string
  readonly events: readonly {
    readonly created_at: number
    readonly project_id: string
    readonly id: string
    /** Goes on waiting, held by the claim. */
    readonly isHeld: boolean
    readonly deliveries: readonly Value[][]
    readonly publications: readonly Value[][]
  }[]
}

/** What differs between the deliveries of an event. */
export const DELIVERY = [
  ...['id', 'destination_id', 'head', 'tail', 'next_attempt_at', 'claim_id'],
] as const satisfies (keyof DeliveryRow)[]
export const PUBLICATION = [
  ...['id', 'distribution_id', 'customer_id', 'data'],
] as const satisfies (keyof PublicationRow)[]

export const packFannedOut = ({ event, first, deliveries, publications }: FannedOut) => ({
  created_at: event.created_at,
  project_id: event.project_id,
  id: event.id,
  isHeld: first !== null,
  deliveries: first ? [] : deliveries.map((row) => DELIVERY.map((name) => row[name])),
  publications: publications.map((row) => PUBLICATION.map((name) => row[name])),
})
