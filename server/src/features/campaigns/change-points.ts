import { ID_PREFIX } from '../../contract/ids.ts'
import { Problem } from '../../contract/problem.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { newId, type RandomBytes } from '../../platform/secrets.ts'
import { type EntryType, insertEntry, type PointEntryRow } from './point-entry.store.ts'
import { updateVoucherSums, type VoucherRow } from './voucher.store.ts'

export interface PointChange {
  readonly type: EntryType
  /** Signed. */
  readonly points: number
  readonly requestId: string | null
  readonly sourceId?: string | null | undefined
  readonly reason?: string | null | undefined
  readonly redemptionId?: string | undefined
  readonly reward?: { readonly id: string; readonly name: string } | undefined
}

/** A card after a change of its points, with the ledger entry of the change. */
export interface ChangedCard {
  readonly card: VoucherRow
  readonly entry: PointEntryRow
}

interface Change {
  /** Locked or created by this transaction, so that no other entry is inserted in between. */
  readonly card: VoucherRow
  readonly change: PointChange
}

/** Changes a card's points and writes the result. */
export async function changePoints(
  deps: { random: RandomBytes },
  tx: Transaction,
  request: Change,
): Promise<ChangedCard> {
  const changed = withPointsChanged(deps, { ...request, now: await tx.now() })
  await writePoints(tx, changed)
  return changed
}

/** Computes a change without writing it; throws if the card does not allow it. */
export function withPointsChanged(
  { random }: { random: RandomBytes },
  { card, change, now }: Change & { readonly now: number },
): ChangedCard {
  const after = { ...sumsAfter(card, change), updated_at: now }
  const entry: PointEntryRow = {
    project_id: card.project_id,
    id: newId(random, ID_PREFIX.transaction),
    voucher_id: card.id,
    number: after.entries,
    campaign_id: card.campaign_id,
    type: change.type,
    points: change.points,
    total: after.points,
    balance: after.balance,
    source_id: change.sourceId ?? null,
    reason: change.reason ?? null,
    redemption_id: change.redemptionId ?? null,
    reward_id: change.reward?.id ?? null,
    reward_name: change.reward?.name ?? null,
    request_id: change.requestId,
    created_at: now,
  }
  return { card: { ...card, ...after }, entry }
}

/** Writes an entry together with the balance after it. No other function writes a balance. */
export async function writePoints(tx: Transaction, { card, entry }: ChangedCard): Promise<void> {
  const { points, balance, entries, redeemed_points, redeemed_quantity, updated_at } = card
  const after = { points, balance, entries, redeemed_points, redeemed_quantity, updated_at }
  await Promise.all([insertEntry(tx, entry), updateVoucherSums(tx, card, after)])
}

function sumsAfter(card: VoucherRow, { type, points }: PointChange) {
  const redeemed = type === 'POINTS_REDEMPTION'
  const sums = {
    points: card.points + Math.max(points, 0),
    balance: card.balance + points,
    entries: card.entries + 1,
    redeemed_points: card.redeemed_points - (redeemed ? points : 0),
    redeemed_quantity: card.redeemed_quantity + (redeemed ? 1 : 0),
  }
  if (sums.balance < 0) throw exceeded(card, -points)
  if (!Number.isSafeInteger(sums.points) || !Number.isSafeInteger(sums.redeemed_points)) throw tooMany(card)
  return sums
}

const exceeded = (card: VoucherRow, needed: number): Problem =>
  new Problem('loyalty_card_points_exceeded', {
    message: `The card holds ${card.balance} points; ${needed} are required.`,
    details: 'Nothing was taken.',
    resource: { type: 'voucher', id: card.code },
  })

/** JavaScript and many JSON clients lose precision above this number. */
const tooMany = (card: VoucherRow): Problem =>
  new Problem('invalid_payload', {
    message: `A card cannot collect more than ${Number.MAX_SAFE_INTEGER} points; this card has collected ${card.points}.`,
    details: 'Nothing was added.',
    resource: { type: 'voucher', id: card.code },
  })
