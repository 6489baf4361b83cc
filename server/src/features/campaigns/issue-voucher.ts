import { ID_PREFIX } from '../../contract/ids.ts'
import { Problem } from '../../contract/problem.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { type Metadata, metadataText } from '../../platform/http/index.ts'
import { newId, type RandomBytes } from '../../platform/secrets.ts'
import type { CampaignRow } from './campaign.store.ts'
import { planOf } from './campaign.ts'
import { newCode } from './code.ts'
import { insertVoucher, takenCodes, type VoucherRow } from './voucher.store.ts'

interface Deps {
  readonly random: RandomBytes
}

export interface NewVoucher {
  readonly campaign: CampaignRow
  readonly holderId: string
  /** Chosen by the caller; drawn by the campaign's rules where there is none. */
  readonly code?: string | undefined
  /** Of a gift voucher, where it is not the campaign's. */
  readonly amount?: number | undefined
  readonly metadata?: Metadata | null | undefined
  /** The transaction's time, if the caller has read it already. */
  readonly now?: number | undefined
}

/** Issues a voucher of a campaign to a customer. Loyalty cards start empty: only the ledger adds points. */
export async function issueVoucher(deps: Deps, tx: Transaction, request: NewVoucher): Promise<VoucherRow> {
  const { campaign, holderId, code } = request
  const row: Omit<VoucherRow, 'code'> = {
    project_id: campaign.project_id,
    id: newId(deps.random, ID_PREFIX.voucher),
    campaign_id: campaign.id,
    type: planOf(campaign).type,
    holder_id: holderId,
    value: worthOf(request),
    points: 0,
    balance: 0,
    entries: 0,
    redeemed_quantity: 0,
    redeemed_points: 0,
    active: 1,
    metadata: metadataText(request.metadata),
    starts_at: null,
    expires_at: null,
    created_at: request.now ?? (await tx.now()),
    updated_at: null,
  }
  if (code === undefined) return insertWithNewCode(deps, tx, campaign, row)
  if (!(await insertVoucher(tx, { ...row, code }))) throw codeTaken(code)
  return { ...row, code }
}

function worthOf({ campaign, amount }: NewVoucher): string | null {
  const { type, discount, gift } = planOf(campaign)
  if (type === 'LOYALTY_CARD') return null
  if (type === 'DISCOUNT_VOUCHER') return JSON.stringify(discount)
  const worth = amount ?? gift!.amount
  return JSON.stringify({ amount: worth, balance: worth })
}

/** Once blindly, since a collision is rare; then by looking first, as long as there is a fair chance of a free one. */
const ROUNDS = 5
const DRAWN_A_ROUND = 50

async function insertWithNewCode(
  { random }: Deps,
  tx: Transaction,
  campaign: CampaignRow,
  row: Omit<VoucherRow, 'code'>,
): Promise<VoucherRow> {
  const config = planOf(campaign).code_config
  let code: string | undefined = newCode(random, config)
  for (let round = 0; round < ROUNDS; round++) {
    if (code !== undefined && (await insertVoucher(tx, { ...row, code }))) return { ...row, code }
    const drawn = Array.from({ length: DRAWN_A_ROUND }, () => newCode(random, config))
    const taken = await takenCodes(tx, row.project_id, drawn)
    code = drawn.find((one) => !taken.has(one))
  }
  throw new Problem('voucher_codes_exhausted', {
    message: `The campaign ${JSON.stringify(campaign.name)} has hardly any free code left.`,
    details:
      'Nothing was changed. Its code_config allows too few codes: make another campaign with longer ones.',
    resource: { type: 'campaign', id: campaign.id },
  })
}

const codeTaken = (code: string): Problem =>
  new Problem('duplicate_found', {
    message: `The code ${JSON.stringify(code)} is taken.`,
    details: 'Choose another one, or leave it out to have one drawn. Nothing was changed.',
    resource: { type: 'voucher', id: code },
  })
