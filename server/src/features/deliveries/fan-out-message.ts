import type { EventHead } from '../events/index.ts'
import type { DeliveryRow, PublicationRow } from './delivery.ts'

/** An event with everything that is to be written for it. */
export interface FannedOut {
  readonly event: EventHead
  readonly deliveries: DeliveryRow[]
  readonly publications: PublicationRow[]
}

/** What crosses to the SQLite thread. */
export interface FanOutMessage {
  readonly now: number
  /** `FannedOut[]` as JSON: one text crosses in a fraction of the time that as many objects take. */
  readonly made: string
}
