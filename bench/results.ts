import type { DeliveryRow, IdleRow, InterferenceRow } from './measure/deliveries.ts'
import type { GrowthRow } from './measure/growth.ts'
import type { LimitRow } from './measure/limits.ts'
import type { ListRow } from './measure/lists.ts'
import type { MemoryRow } from './measure/memory.ts'
import type { MixRow } from './measure/mixed.ts'
import type { RedemptionRow } from './measure/redemptions.ts'
import type { StoreCostRow } from './measure/store-cost.ts'
import type { ThroughputRow } from './measure/throughput.ts'
import type { TurnoverRow } from './measure/turnover.ts'
import type { WorkersRow } from './measure/workers.ts'

/** What was asked for; the rest is absent. */
export interface Results {
  throughput?: ThroughputRow[]
  gateway?: ThroughputRow[]
  redemptions?: RedemptionRow[]
  mixed?: MixRow[]
  growth?: GrowthRow[]
  turnover?: TurnoverRow[]
  limits?: LimitRow[]
  lists?: ListRow[]
  memory?: MemoryRow[]
  workers?: WorkersRow[]
  deliveries?: DeliveryRow[]
  idle?: IdleRow[]
  interference?: InterferenceRow[]
  storeCost?: StoreCostRow[]
  /** What could not be measured at all, and why. */
  readonly failures: string[]
}
