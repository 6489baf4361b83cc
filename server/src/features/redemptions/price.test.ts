import { describe, expect, test } from 'vitest'
import fc from '../../../test/properties.ts'
import { Problem } from '../../contract/problem.ts'
import { coinPrice } from './price.ts'

const coin = fc.record({
  exchange_ratio: fc.integer({ min: 1, max: 100_000 }).map((cents) => cents / 100),
  points_ratio: fc.integer({ min: 1, max: 100_000 }),
})
const amount = fc.integer({ min: 1, max: 1e12 })
const balance = fc.integer({ min: 0, max: 1e12 })

function priced(act: () => ReturnType<typeof coinPrice>) {
  try {
    return act()
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

describe('the price of a COIN reward', () => {
  test('follows from the ratio: 100 points are worth 20.00, as Voucherify shows it', () => {
    const ratio = { exchange_ratio: 20, points_ratio: 100 }
    expect(coinPrice(ratio, { amount: 45_000, balance: 500, wanted: 100 })).toEqual({
      points: 100,
      amountOff: 2_000,
    })
  })

  test('is never more than the card holds, never takes off more than the order, and takes no points for nothing', () => {
    fc.assert(
      fc.property(coin, amount, balance, (ratio, amount, balance) => {
        const price = priced(() => coinPrice(ratio, { amount, balance, wanted: undefined }))
        if (!price) return
        expect(price.points).toBeLessThanOrEqual(balance)
        expect(price.amountOff).toBeGreaterThan(0)
        expect(price.amountOff).toBeLessThanOrEqual(amount)
        // One point less would take off less.
        const less = priced(() => coinPrice(ratio, { amount, balance, wanted: price.points - 1 }))
        expect(less?.amountOff ?? 0).toBeLessThan(price.amountOff)
      }),
    )
  })

  test('pays the whole order if the card holds enough', () => {
    fc.assert(
      fc.property(coin, fc.integer({ min: 1, max: 1e9 }), (ratio, amount) => {
        const price = coinPrice(ratio, { amount, balance: Number.MAX_SAFE_INTEGER, wanted: undefined })
        expect(price.amountOff).toBe(amount)
      }),
    )
  })

  test('is exact where floating point is not', () => {
    const ratio = { exchange_ratio: 0.29, points_ratio: 1 }
    expect(coinPrice(ratio, { amount: 1e15, balance: 1e15, wanted: 100 })).toEqual({
      points: 100,
      amountOff: 2_900,
    })
    const most = Number.MAX_SAFE_INTEGER
    const one = { exchange_ratio: 0.01, points_ratio: 1 }
    expect(coinPrice(one, { amount: most, balance: most, wanted: most })).toEqual({
      points: most,
      amountOff: most,
    })
  })

  test('is refused if the points are worth nothing, or more than the order', () => {
    const ratio = { exchange_ratio: 0.01, points_ratio: 1000 }
    expect(() => coinPrice(ratio, { amount: 5, balance: 999, wanted: undefined })).toThrow(
      '1000 points at least',
    )
    expect(() => coinPrice(ratio, { amount: 5, balance: 9_999, wanted: 5_001 })).toThrow(
      '5000 points at most',
    )
  })
})
