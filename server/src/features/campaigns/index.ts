/** Campaigns, their vouchers (a loyalty card is one), members, and the ledger of points. Does not depend on rewards. */
export { addCard, addMember } from './add-member.ts'
export { Campaign, campaignRoutes } from './campaign.routes.ts'
export {
  CAMPAIGN_TYPES,
  type CampaignRow,
  type CampaignType,
  findCampaign,
  listCampaignRows,
} from './campaign.store.ts'
export { campaignView, checkRunning, planOf, simpleCampaignView } from './campaign.ts'
export { type ChangedCard, withPointsChanged, writePoints } from './change-points.ts'
export { holdingsOf } from './holdings.ts'
export { issueVoucher } from './issue-voucher.ts'
export { cardNameOf, MEMBER_PATHS, MemberParams, memberRoutes } from './member.routes.ts'
export { listEntriesOfCards, type PointEntryRow } from './point-entry.store.ts'
export { pointsRoutes } from './points.routes.ts'
export { deleteCampaignsOfProject } from './project-end.store.ts'
export { type CardName, requireCard, requireLockedCard } from './require-card.ts'
export { createCampaign, requireCampaign, requireLockedCampaign } from './save-campaign.ts'
export { voucherRoutes } from './voucher.routes.ts'
export {
  cardCodesOf,
  findCardOf,
  findVoucher,
  listCardRowsOf,
  lockVouchers,
  releaseCards,
  type VoucherRow,
} from './voucher.store.ts'
export { checkValid, Voucher, voucherView } from './voucher.ts'
