import { notFound } from '../../contract/problem.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { CampaignRow } from './campaign.store.ts'
import { requireCampaign } from './save-campaign.ts'
import { findVoucher, lockVouchers, type VoucherRow } from './voucher.store.ts'

/** What a path names: a card by its code, with or without the campaign that it must belong to. */
export interface CardName {
  readonly projectId: string
  readonly campaign?: string | undefined
  readonly code: string
}

interface Found {
  readonly campaign: CampaignRow
  readonly card: VoucherRow
}

export async function requireCard(reader: Reader, name: CardName): Promise<Found> {
  const { projectId } = name
  const type = 'LOYALTY_PROGRAM' as const
  const named =
    name.campaign === undefined
      ? undefined
      : await requireCampaign(reader, { projectId, idOrName: name.campaign, type })
  const card = await findVoucher(reader, projectId, name.code)
  if (card?.type !== 'LOYALTY_CARD' || (named && card.campaign_id !== named.id))
    throw notFound('voucher', name.code)
  const campaign = named ?? (await requireCampaign(reader, { projectId, idOrName: card.campaign_id, type }))
  return { campaign, card }
}

export async function requireLockedCard(tx: Transaction, name: CardName): Promise<Found> {
  const { campaign, card } = await requireCard(tx, name)
  const locked = (await lockVouchers(tx, card.project_id, [card.id])).get(card.id)
  if (!locked) throw notFound('voucher', name.code)
  return { campaign, card: locked }
}
