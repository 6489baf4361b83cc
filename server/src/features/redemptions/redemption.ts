import { isoTime } from '../../platform/http/index.ts'
import { type CampaignRow, simpleCampaignView, type VoucherRow, voucherView } from '../campaigns/index.ts'
import { type CustomerRow, simpleCustomerView } from '../customers/index.ts'
import { type AssignmentRow, assignmentView, type RewardRow, simpleRewardView } from '../rewards/index.ts'
import type { RedemptionRow } from './redemption.store.ts'

/** All records of a redemption, in their state after it. */
export interface Completed {
  readonly redemption: Omit<RedemptionRow, 'event_id'>
  readonly customer: CustomerRow
  readonly campaign: CampaignRow
  readonly card: VoucherRow
  readonly reward: RewardRow
  readonly assignment: AssignmentRow
  /** The voucher or product that the customer got. */
  readonly granted: { readonly voucher?: object; readonly product?: object }
  readonly order: object | null
}

const rewardGiven = ({ reward, assignment, granted }: Completed) => {
  const { id, name, type, ...rest } = simpleRewardView(reward)
  return { id, name, type, assignment_id: assignment.id, ...granted, ...rest }
}

export const redemptionView = (done: Completed) => ({
  id: done.redemption.id,
  object: 'redemption' as const,
  date: isoTime(done.redemption.created_at),
  customer_id: done.customer.id,
  tracking_id: done.customer.source_id,
  metadata: JSON.parse(done.redemption.metadata) as object,
  amount: done.redemption.points,
  result: 'SUCCESS' as const,
  order: done.order,
  customer: simpleCustomerView(done.customer),
  related_object_type: 'voucher' as const,
  related_object_id: done.card.id,
  voucher: voucherView(done.card, done.campaign),
  reward: rewardGiven(done),
})

/** `data` of the event, with null for keys that do not apply. The relay adds the publication. */
export function redemptionEvent(done: Completed) {
  const { redemption } = done
  const customer = simpleCustomerView(done.customer)
  return {
    customer,
    holder: customer,
    voucher: voucherView(done.card, done.campaign),
    campaign: simpleCampaignView(done.campaign),
    reward_redemption: {
      id: redemption.reward_redemption_id,
      state: 'COMPLETED' as const,
      created_at: isoTime(redemption.created_at),
      updated_at: null,
      voucher_id: redemption.voucher_id,
      campaign_id: redemption.campaign_id,
      customer_id: redemption.customer_id,
      reward_assignment_id: redemption.reward_assignment_id,
      source_id: redemption.id,
      source_type: 'redemption' as const,
    },
    reward: rewardGiven(done),
    reward_assignment: assignmentView(done.assignment),
    source: { id: redemption.id, type: 'redemption' as const },
    // The new balance. A reward that costs nothing changes no balance.
    balance: redemption.points === 0 ? null : { amount: done.card.balance },
  }
}
