import { afterAll, beforeAll, expect, test } from 'vitest'
import { wrongCards } from '../../concurrent-redemptions.ts'
import { eachEngine } from '../../engines.ts'
import { ok, openShop, type Shop } from '../../loyalty.ts'
import fc from '../../properties.ts'
import { startService, type TestService } from '../../service.ts'
import { TestClock } from '../../test-clock.ts'

type Step = { kind: 'change'; points: number } | { kind: 'redeem' }

const PRICE = 50
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('change' as const),
    points: fc.integer({ min: -120, max: 120 }).filter(Boolean),
  }),
  fc.constant({ kind: 'redeem' as const }),
)

eachEngine((engine) => {
  let service: TestService
  let shop: Shop
  let rewardId: string

  beforeAll(async () => {
    service = await startService(await engine.settings(), { clock: new TestClock() })
    shop = await openShop(service)
    rewardId = (await shop.material({ price: PRICE })).id
  })
  afterAll(() => service.stop())

  const take = (code: string, one: Step) =>
    one.kind === 'redeem'
      ? shop.redeem(code, rewardId)
      : shop.call('POST', `/loyalties/members/${code}/balance`, { points: one.points })
  const changeOf = (one: Step) => (one.kind === 'redeem' ? -PRICE : one.points)

  const entriesOf = async (code: string) => {
    const { data } = await ok(shop.call('GET', `/loyalties/members/${code}/transactions?limit=100`))
    return (data as { details: { balance: { points: number; balance: number } } }[]).map(
      ({ details }) => details.balance,
    )
  }

  async function provesItself(code: string, answered: readonly { status: number; step: Step }[]) {
    const entries = (await entriesOf(code)).reverse()
    const sums = entries.map((_, i) => entries.slice(0, i + 1).reduce((sum, { points }) => sum + points, 0))
    expect(entries.map(({ balance }) => balance)).toEqual(sums)
    expect(Math.min(0, ...sums)).toBe(0)
    expect(await shop.balanceOf(code)).toBe(sums.at(-1) ?? 0)
    const done = answered.filter(({ status }) => status === 200).map(({ step }) => changeOf(step))
    expect(entries.map(({ points }) => points).sort()).toEqual(done.sort())
  }

  test('after any history the balance is the sum of the entries and was never negative, and only unaffordable steps were refused', async () => {
    const history = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const { code } = await shop.member()
      const answered: { status: number; step: Step }[] = []
      let balance = 0
      for (const one of steps) {
        const { status, body } = await take(code, one)
        const bearable = balance + changeOf(one) >= 0
        expect([status, body.key]).toEqual(
          bearable ? [200, undefined] : [400, 'loyalty_card_points_exceeded'],
        )
        if (bearable) balance += changeOf(one)
        answered.push({ status, step: one })
      }
      await provesItself(code, answered)
    })
    await fc.assert(history, { numRuns: 40 })
  })

  test('after concurrent steps the balance is the sum of the entries and was never negative', async () => {
    const history = fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), async (steps) => {
      const { code } = await shop.member(100)
      const first = { status: 200, step: { kind: 'change', points: 100 } as const }
      const answered = steps.map(async (one) => ({ status: (await take(code, one)).status, step: one }))
      await provesItself(code, [first, ...(await Promise.all(answered))])
    })
    await fc.assert(history, { numRuns: 25 })
    expect(await wrongCards(service.service.db)).toEqual([])
  })

  test('a card holds up to 2^53 − 1 points exactly, and not one more', async () => {
    const { code } = await shop.member()
    const path = `/loyalties/members/${code}/balance`
    const most = Number.MAX_SAFE_INTEGER
    expect(await ok(shop.call('POST', path, { points: most }))).toMatchObject({ total: most, balance: most })
    expect((await shop.call('POST', path, { points: 1 })).body).toMatchObject({
      code: 400,
      key: 'invalid_payload',
    })
    expect(await ok(shop.call('POST', path, { points: -most }))).toMatchObject({ points: -most, balance: 0 })
    // The sum of all points ever earned is limited, so that `points` stays exact, too.
    expect((await shop.call('POST', path, { points: 1 })).status).toBe(400)
    expect(await wrongCards(service.service.db)).toEqual([])
  })
})
