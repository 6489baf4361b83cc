/** Usage over time: counted in memory, added to the store every few seconds. */

export {
  countCalls,
  type DestinationUse,
  destinationUse,
  type KeyUse24h,
  keyUse,
  listRefusalJumps,
} from './recent-usage.ts'
export { usageRoutes } from './usage.routes.ts'
export { UsageCounter } from './usage-counter.ts'
export { createUsageWriter, removeUsageOfProject, type TokenLevel } from './write-usage.ts'
