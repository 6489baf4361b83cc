import { projectTable, type Reader } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'

export const CAMPAIGN_TYPES = ['LOYALTY_PROGRAM', 'DISCOUNT_COUPONS', 'GIFT_VOUCHERS'] as const
export type CampaignType = (typeof CAMPAIGN_TYPES)[number]

export interface CampaignRow {
  project_id: string
  id: string
  /** Unique in the project. */
  name: string
  campaign_type: CampaignType
  type: 'AUTO_UPDATE' | 'STATIC'
  /** JSON template of its vouchers: see `VoucherPlan`. */
  voucher: string
  auto_join: number
  join_once: number
  active: number
  description: string | null
  metadata: string
  starts_at: number | null
  expires_at: number | null
  created_at: number
  updated_at: number | null
}

export interface CampaignTables {
  campaigns: CampaignRow
}

const campaigns = projectTable<CampaignRow>('campaigns')

/** Finds a campaign by id, then by name. */
export const findCampaign = campaigns.findByIdOr('name')

export const lockCampaign = campaigns.lock

export const listCampaignRows = (
  reader: Reader,
  projectId: string,
  { page, type, name }: { page: Page; type?: CampaignType | undefined; name?: string | undefined },
): Promise<Rows<CampaignRow>> => campaigns.list(reader, projectId, page, { campaign_type: type, name })

/** Returns false if the name is taken. */
export const insertCampaign = campaigns.insert

export const updateCampaignRow = campaigns.update

export const deleteCampaignRow = campaigns.delete
