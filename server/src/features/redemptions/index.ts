/** Redemptions: points for a reward, in one transaction with its event. It does not know who receives the event. */
export { redeemReward } from './redeem-reward.ts'
export { redemptionRoutes } from './redemption.routes.ts'
export { deleteRedemptionsOfProject, listRedemptionsOfCards, type RedemptionRow } from './redemption.store.ts'
