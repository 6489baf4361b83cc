import { SETTLE_SECONDS } from './load/load.ts'
import { MIXES } from './measure/mixed.ts'
import { isAtGateway, slicesOf } from './measure/throughput.ts'
import { WORKERS } from './measure/workers.ts'
import type { Options } from './options.ts'

/** From a look at a small machine: what a measurement costs beside its own length. */
const START_SECONDS = 3
const TOKENS_SECONDS = 1.5
const MILLION_TOKENS_SECONDS = 30
const MEMORY_SECONDS = 30
const CARDS_SECONDS = 3
/** One engine: what it takes at 8,000 tokens a second, to fill a million tokens, and a million events. */
const TURNOVER_SECONDS = 280
const LIMITS_SECONDS = 50
const LISTS_SECONDS = 90
/** One engine: the bare loop and Jeton for each number of destinations, then one event at a time. */
const DELIVERIES_SECONDS = 45

/** How long the whole will take, roughly. */
export function estimateSeconds({ parts, subjects, rounds, quick, seconds, warmUpSeconds }: Options): number {
  const one = seconds + warmUpSeconds + 2 * SETTLE_SECONDS
  const has = (part: Options['parts'][number]) => (parts.includes(part) ? 1 : 0)
  const kinds = has('introspect') + has('issue')
  const sliced = slicesOf(seconds)
  const inTurn =
    2 * (warmUpSeconds + SETTLE_SECONDS) + (2 * sliced.slices + 1) * (sliced.seconds + SETTLE_SECONDS)
  const throughput = kinds === 0 ? 0 : subjects.length * (START_SECONDS + TOKENS_SECONDS + kinds * inTurn)
  const asking = subjects.filter(isAtGateway).length
  const gateway = has('gateway') * asking * (START_SECONDS + TOKENS_SECONDS + inTurn)
  const redemptions = 2 * has('redemptions') * (2 * START_SECONDS + CARDS_SECONDS + inTurn)
  const mixed = 2 * has('mixed') * (START_SECONDS + TOKENS_SECONDS + MIXES.length * one)
  const filling = quick ? MILLION_TOKENS_SECONDS / 10 : MILLION_TOKENS_SECONDS
  const growth = 2 * has('growth') * (filling + 3 * (START_SECONDS + one))
  const grown =
    has('turnover') * TURNOVER_SECONDS + has('limits') * LIMITS_SECONDS + has('lists') * LISTS_SECONDS
  const once = 2 * (quick ? grown / 10 : grown)
  const workers = 2 * has('workers') * WORKERS.length * (START_SECONDS + TOKENS_SECONDS + 2 * inTurn)
  const deliveries = 2 * has('deliveries') * DELIVERIES_SECONDS
  const alternating = throughput + gateway + redemptions + mixed + growth + workers + deliveries
  const store = has('store') * (START_SECONDS + CARDS_SECONDS + 6 * (one + 2 * SETTLE_SECONDS))
  return rounds * alternating + store + once + 2 * has('memory') * MEMORY_SECONDS
}
