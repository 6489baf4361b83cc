/** Redemptions: points for a reward, in one transaction with its event. It never knows who is told of it. */
export { redeemReward } from './redeem-reward.ts'
export { redemptionRoutes } from './redemption.routes.ts'
export { deleteRedemptionsOfProject } from './redemption.store.ts'
