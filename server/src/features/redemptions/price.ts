import { Problem } from '../../contract/problem.ts'
import type { RewardParameters } from '../rewards/index.ts'

type Coin = NonNullable<RewardParameters['coin']>

/** Points to spend, and their worth in the smallest unit of the currency. */
export interface CoinPrice {
  readonly points: number
  readonly amountOff: number
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const ceil = (a: bigint, b: bigint): bigint => (a + b - 1n) / b

/**
 * Prices a COIN reward with integers only. `points_ratio` points are worth `exchange_ratio` in the currency's main unit,
 * which is 100 of the smallest. By default it spends as many points as the order needs and the card holds, without points
 * that would buy nothing.
 */
export function coinPrice(
  { exchange_ratio, points_ratio }: Coin,
  { amount, balance, wanted }: { amount: number; balance: number; wanted: number | undefined },
): CoinPrice {
  const [cents, ratio] = [BigInt(Math.round(exchange_ratio * 100)), BigInt(points_ratio)]
  const worth = (points: bigint) => least((points * cents) / ratio, BigInt(amount))
  const costOf = (off: bigint) => ceil(off * ratio, cents)
  const whole = costOf(BigInt(amount))
  if (wanted !== undefined && BigInt(wanted) > whole) throw tooMany(whole)
  const spent = wanted === undefined ? costOf(worth(least(BigInt(balance), whole))) : BigInt(wanted)
  const amountOff = worth(spent)
  if (amountOff === 0n) throw tooFew(ceil(ratio, cents), balance)
  return { points: Number(spent), amountOff: Number(amountOff) }
}

const tooMany = (whole: bigint): Problem =>
  new Problem('invalid_payload', {
    message: `These points are worth more than the order, which takes ${whole} points at most.`,
    details: 'Send fewer as reward.points, or leave it out. Nothing was taken.',
  })

const tooFew = (fewest: bigint, balance: number): Problem =>
  new Problem('loyalty_card_points_exceeded', {
    message: `It takes ${fewest} points at least; the card holds ${balance}.`,
    details: 'Nothing was taken.',
  })
