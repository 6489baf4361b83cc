import {
  campaignRoutes,
  deleteCampaignsOfProject,
  holdingsOf,
  memberRoutes,
  pointsRoutes,
  releaseCards,
  voucherRoutes,
} from '../features/campaigns/index.ts'
import { customerRoutes, deleteCustomersOfProject } from '../features/customers/index.ts'
import { deleteIdempotencyOfProject } from '../features/idempotency/index.ts'
import { deleteRedemptionsOfProject, redemptionRoutes } from '../features/redemptions/index.ts'
import {
  assignmentRoutes,
  deleteRewardsOfProject,
  offerRoutes,
  productRoutes,
  rewardRoutes,
  usesOfCampaign,
} from '../features/rewards/index.ts'
import type { UsageCounter } from '../features/usage/index.ts'
import type { Database, Transaction } from '../platform/database/index.ts'
import type { App } from '../platform/http/index.ts'
import type { RandomBytes } from '../platform/secrets.ts'

interface LoyaltyDeps {
  readonly db: Database
  readonly random: RandomBytes
  readonly usage: UsageCounter
}

/** Connects the loyalty features, which do not import each other in both directions. */
export function loyaltyRoutes(app: App, deps: LoyaltyDeps): void {
  customerRoutes(app, { ...deps, holdingsOf, releaseCards })
  campaignRoutes(app, { ...deps, usesOfCampaign })
  memberRoutes(app, deps)
  pointsRoutes(app, deps)
  voucherRoutes(app, deps)
  productRoutes(app, deps)
  rewardRoutes(app, deps)
  assignmentRoutes(app, deps)
  offerRoutes(app, deps)
  redemptionRoutes(app, deps)
}

export async function deleteLoyaltyOfProject(tx: Transaction, projectId: string): Promise<void> {
  await deleteIdempotencyOfProject(tx, projectId)
  await deleteRedemptionsOfProject(tx, projectId)
  await deleteRewardsOfProject(tx, projectId)
  await deleteCampaignsOfProject(tx, projectId)
  await deleteCustomersOfProject(tx, projectId)
}
