/** Redemptions: exchange points for a reward, in one transaction with its event. Does not depend on webhooks. */
export { redeemReward } from './redeem-reward.ts'
export { redemptionRoutes } from './redemption.routes.ts'
export { deleteRedemptionsOfProject, listRedemptionsOfCards, type RedemptionRow } from './redemption.store.ts'
