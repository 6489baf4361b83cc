import { Problem } from '../../contract/problem.ts'
import { type Metadata, metadataText } from '../../platform/http/index.ts'
import { type AssignmentRow, parametersOf, type RewardRow } from '../rewards/index.ts'
import { coinPrice } from './price.ts'

export interface SentOrder {
  readonly id?: string | null | undefined
  readonly source_id?: string | null | undefined
  /** In the smallest unit of the currency. */
  readonly amount?: number | null | undefined
  readonly metadata?: Metadata | null | undefined
}

/** Price of a redemption in points, and the discount of a COIN reward. */
export interface Bill {
  readonly points: number
  readonly order: object | null
}

interface Asked {
  readonly points?: number | undefined
  readonly order?: SentOrder | null | undefined
}

export function billFor(
  { points: wanted, order }: Asked,
  { reward, assignment, balance }: { reward: RewardRow; assignment: AssignmentRow; balance: number },
): Bill {
  const { coin } = parametersOf(reward)
  if (!coin) return { points: assignment.points!, order: null }
  if (!order?.amount) throw missingOrder()
  const { points, amountOff } = coinPrice(coin, { amount: order.amount, balance, wanted })
  return { points, order: orderView(order, order.amount, amountOff) }
}

const orderView = (sent: SentOrder, amount: number, amountOff: number) => ({
  id: sent.id ?? null,
  source_id: sent.source_id ?? null,
  amount,
  discount_amount: amountOff,
  total_discount_amount: amountOff,
  total_amount: amount - amountOff,
  metadata: JSON.parse(metadataText(sent.metadata)) as object,
  object: 'order' as const,
})

const missingOrder = (): Problem =>
  new Problem('missing_order', {
    message: 'There is no order to take an amount off.',
    details: 'Send order.amount, in the smallest unit of the currency. No points were taken.',
  })
