import type { ChartSeries } from '../../components/time-chart.tsx'
import type { Transaction } from './transactions.ts'

const MAX_CARDS = 5
/** Just before a change the balance is still the old one, which draws a step. */
const JUST_BEFORE_SECONDS = 0.001

/** Balance of each card over time, as steps. Transactions come newest first. */
export function balancesOf(
  transactions: readonly Pick<Transaction, 'card' | 'balance' | 'created_at'>[],
  now: number,
) {
  const oldestFirst = transactions.toReversed()
  const cards = [...new Set(oldestFirst.map(({ card }) => card))].slice(-MAX_CARDS)
  const current = new Map<string, number>()
  const times: number[] = []
  const values = new Map<string, (number | null)[]>(cards.map((card) => [card, []]))
  const add = (at: number) => {
    times.push(at)
    for (const card of cards) values.get(card)!.push(current.get(card) ?? null)
  }
  for (const { card, balance, created_at } of oldestFirst) {
    const at = Date.parse(created_at) / 1000
    if (times.length > 0) add(at - JUST_BEFORE_SECONDS)
    current.set(card, balance)
    add(at)
  }
  add(now / 1000)
  const series: ChartSeries[] = cards.map((card, i) => ({
    label: card,
    color: `--series-${i + 1}`,
    values: values.get(card)!,
  }))
  return { times, series }
}
