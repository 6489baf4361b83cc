import { notFound } from '../../contract/problem.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import { type CampaignRow, findCampaign } from './campaign.store.ts'
import { requireCampaign } from './save-campaign.ts'
import { findVoucher, lockVouchers, type VoucherRow } from './voucher.store.ts'

/** A card by its code, optionally within one campaign. */
export interface CardName {
  readonly projectId: string
  readonly campaign?: string | undefined
  readonly code: string
}

interface Found {
  readonly campaign: CampaignRow
  readonly card: VoucherRow
}

/** Sends both queries together. */
export async function requireCard(reader: Reader, name: CardName): Promise<Found> {
  const { projectId, campaign: idOrName, code } = name
  const [named, card] = await Promise.all([
    idOrName === undefined ? undefined : findCampaign(reader, projectId, idOrName),
    findVoucher(reader, projectId, code),
  ])
  if (idOrName !== undefined && named?.campaign_type !== 'LOYALTY_PROGRAM')
    throw notFound('campaign', idOrName)
  if (card?.type !== 'LOYALTY_CARD' || (named && card.campaign_id !== named.id))
    throw notFound('voucher', code)
  const campaign = named ?? (await requireCampaign(reader, { projectId, idOrName: card.campaign_id }))
  return { campaign, card }
}

export async function requireLockedCard(tx: Transaction, name: CardName): Promise<Found> {
  const { campaign, card } = await requireCard(tx, name)
  const locked = (await lockVouchers(tx, card.project_id, [card.id])).get(card.id)
  if (!locked) throw notFound('voucher', name.code)
  return { campaign, card: locked }
}
