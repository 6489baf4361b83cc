import type { GrowthRow } from './measure/growth.ts'
import type { MemoryRow } from './measure/memory.ts'
import type { MixRow } from './measure/mixed.ts'
import type { RedemptionRow } from './measure/redemptions.ts'
import type { ThroughputRow } from './measure/throughput.ts'

/** What was asked for; the rest is absent. */
export interface Results {
  throughput?: ThroughputRow[]
  gateway?: ThroughputRow[]
  redemptions?: RedemptionRow[]
  mixed?: MixRow[]
  growth?: GrowthRow[]
  memory?: MemoryRow[]
  /** What could not be measured at all, and why. */
  readonly failures: string[]
}
