import type { ClaimedDestination, Settlement } from './exchange.ts'

/** How a send ended, and what follows from it. */
export interface Ended {
  readonly settlement: Settlement
  readonly destination: ClaimedDestination
  /** Null where it says nothing about the receiver. */
  readonly succeeded: boolean | null
  readonly durationMs: number
  /** Why the destination is to be disabled, where it is. */
  readonly disable: string | null
}
