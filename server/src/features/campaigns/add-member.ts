import { Problem } from '../../contract/problem.ts'
import type { Transaction } from '../../platform/database/index.ts'
import type { Metadata } from '../../platform/http/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import {
  type CustomerFields,
  type CustomerRow,
  requireLockedCustomer,
  saveCustomer,
} from '../customers/index.ts'
import type { CampaignRow } from './campaign.store.ts'
import { planOf } from './campaign.ts'
import { changePoints } from './change-points.ts'
import { issueVoucher } from './issue-voucher.ts'
import { type CampaignName, requireLockedCampaign } from './save-campaign.ts'
import { findCardOf, type VoucherRow } from './voucher.store.ts'

interface Deps {
  readonly random: RandomBytes
}

export interface NewMember {
  readonly campaign: CampaignName
  /** An id, a source_id, or fields. Fields update the customer if it exists. */
  readonly customer: string | (CustomerFields & { readonly id?: string | undefined })
  readonly code?: string | undefined
  readonly metadata?: Metadata | null | undefined
  readonly requestId: string | null
}

interface Joined {
  readonly campaign: CampaignRow
  readonly card: VoucherRow
}

/**
 * Makes a customer a member. With `join_once` a customer has at most one card in a campaign: the campaign's row is locked,
 * and a customer who is already a member gets the existing card.
 */
export async function addMember(deps: Deps, tx: Transaction, request: NewMember): Promise<Joined> {
  const campaign = await requireLockedCampaign(tx, request.campaign)
  const customer = await customerOf(deps, tx, request)
  const holder = { projectId: campaign.project_id, campaignId: campaign.id, holderId: customer.id }
  const existing = campaign.join_once === 1 ? await findCardOf(tx, holder) : undefined
  if (existing && request.code !== undefined && request.code !== existing.code) throw joined(existing)
  const { code, metadata, requestId } = request
  const card =
    existing ?? (await addCard(deps, tx, { campaign, holderId: customer.id, code, metadata, requestId }))
  return { campaign, card }
}

function customerOf(deps: Deps, tx: Transaction, { campaign, customer }: NewMember): Promise<CustomerRow> {
  const { projectId } = campaign
  if (typeof customer === 'string') return requireLockedCustomer(tx, projectId, customer)
  const { id, ...fields } = customer
  return saveCustomer(deps, tx, { projectId, id, fields })
}

interface NewCard {
  readonly campaign: CampaignRow
  readonly holderId: string
  readonly code?: string | undefined
  readonly metadata?: Metadata | null | undefined
  readonly requestId: string | null
}

/** Issues a card with the initial points of the campaign. */
export async function addCard(deps: Deps, tx: Transaction, request: NewCard): Promise<VoucherRow> {
  const card = await issueVoucher(deps, tx, request)
  const points = planOf(request.campaign).loyalty_card!.points
  if (points === 0) return card
  const change = { type: 'POINTS_ADDITION', points, requestId: request.requestId } as const
  return (await changePoints(deps, tx, { card, change })).card
}

const joined = (card: VoucherRow): Problem =>
  new Problem('duplicate_found', {
    message: `This customer is already a member, with the card ${JSON.stringify(card.code)}.`,
    details: 'Use that card. Only campaigns with "join_once": false issue several cards per customer.',
    resource: { type: 'voucher', id: card.code },
  })
