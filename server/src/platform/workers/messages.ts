import type { Family } from '../metric-families.ts'

/** Where a worker is reached; the same for all. */
export interface Listening {
  readonly url: string
  readonly managementUrl: string
}

/** What a worker tells the primary. */
export type FromWorker =
  | ({ readonly kind: 'ready' } & Listening)
  /** Something was committed that others want to know at once. */
  | { readonly kind: 'wake'; readonly topic: string }
  /** Asks for the metrics of all. */
  | { readonly kind: 'total'; readonly id: number }
  /** The answer to `metrics`. */
  | { readonly kind: 'metrics'; readonly id: number; readonly families: readonly Family[] }

/** What the primary tells a worker. */
export type ToWorker =
  | { readonly kind: 'wake'; readonly topic: string }
  /** Asks for its metrics. */
  | { readonly kind: 'metrics'; readonly id: number }
  /** The answer to `total`. */
  | { readonly kind: 'total'; readonly id: number; readonly text: string }
  | { readonly kind: 'stop' }
