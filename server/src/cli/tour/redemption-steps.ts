import { openDestination } from './destination.ts'
import { needed, promised } from './promised.ts'
import { balances, eventsOf, openShop, POINTS, PRICE, redeemMug, STOCK } from './shop.ts'
import type { Step } from './step.ts'

const redeem: Step = {
  name: 'redeem a mug',
  proves: 'Points, stock, record and event are written in one transaction.',
  byHand: 'npx jeton redeem SAMPLE-1 Mug',
  async run(stage) {
    stage.shop = await openShop(stage)
    stage.destination = await openDestination(stage)
    stage.redeemed = await redeemMug(stage, 'first-mug')
    const { points, stock } = await balances(stage)
    promised(
      points === POINTS - PRICE && stock === STOCK - 1,
      `${points} of ${POINTS} points and ${stock} of ${STOCK} mugs are left`,
    )
    return { result: `${PRICE} points, ${points} left`, proof: `${stock} mugs, 1 event` }
  },
}

const again: Step = {
  name: 'same request again',
  proves: 'The same Idempotency-Key redeems once, however often it is sent.',
  byHand: 'curl … -H "Idempotency-Key: first-mug", twice',
  async run(stage) {
    const first = needed(stage.redeemed, 'a redemption')
    const second = await stage.wire.ask(first.request)
    promised(second.text === first.answer.text, 'the answer is another one')
    const events = await eventsOf(stage, first.customerId)
    const { points } = await balances(stage)
    promised(
      events.length === 1 && points === POINTS - PRICE,
      `there are ${events.length} events and ${points} points`,
    )
    return { result: 'same answer, same bytes', proof: 'no second event' }
  },
}

export const REDEMPTION_STEPS: readonly Step[] = [redeem, again]
