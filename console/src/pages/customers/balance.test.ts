import { expect, test } from 'vitest'
import { balancesOf } from './balance.ts'

const at = (seconds: number) => new Date(seconds * 1000).toISOString()

test('the balance of each card changes in a step, and lasts until now', () => {
  const newestFirst = [
    { card: 'A', balance: 400, created_at: at(30) },
    { card: 'B', balance: 50, created_at: at(20) },
    { card: 'A', balance: 500, created_at: at(10) },
  ]
  const { times, series } = balancesOf(newestFirst, 40_000)
  expect(times).toEqual([10, 19.999, 20, 29.999, 30, 40])
  expect(series).toMatchObject([
    { label: 'A', values: [500, 500, 500, 500, 400, 400] },
    { label: 'B', values: [null, null, 50, 50, 50, 50] },
  ])
})
