import type { EventHead } from '../live/event-feed.ts'
import { needed, promised } from './promised.ts'
import type { Redeemed, Shop, Stage } from './stage.ts'
import { asPair, saidBy } from './wire.ts'

export const POINTS = 500
export const PRICE = 100
export const STOCK = 40

/** A club, a card with points in it, and mugs to spend them on. */
export async function openShop(stage: Stage): Promise<Shop> {
  const key = await stage.makeKey('shop')
  const credential = asPair(key)
  const make = async (path: string, body: object) =>
    (await stage.wire.must({ method: 'POST', path: `/v1${path}`, body, credential })).body
  const voucher = { type: 'LOYALTY_CARD', loyalty_card: { points: POINTS } }
  const campaign = await make('/loyalties', { name: 'Club', voucher })
  const card = await make(`/loyalties/${campaign.id}/members`, { customer: { name: 'Ada Tour' } })
  const product = await make('/products', { name: 'Mug' })
  const parameters = { product: { id: product.id } }
  const reward = await make('/rewards', { name: 'Mug', type: 'MATERIAL', stock: STOCK, parameters })
  const price = { loyalty: { points: PRICE } }
  await make(`/rewards/${reward.id}/assignments`, { campaign: campaign.id, parameters: price })
  return { credential, member: String(card.code), rewardId: String(reward.id) }
}

/** Redeems a mug, and finds the event that it wrote. */
export async function redeemMug(stage: Stage, idempotencyKey: string): Promise<Redeemed> {
  const { credential, member, rewardId } = needed(stage.shop, 'a card and a reward')
  const request = {
    method: 'POST',
    path: `/v1/loyalties/members/${member}/redemption`,
    body: { reward: { id: rewardId } },
    headers: { 'Idempotency-Key': idempotencyKey },
    credential,
  }
  const answer = await stage.wire.ask(request)
  const answeredAt = performance.now()
  promised(answer.status === 200, `answered ${saidBy(answer)}`)
  const customerId = String(answer.body.customer_id)
  const events = (await eventsOf(stage, customerId)).filter(({ group_id }) => group_id === answer.requestId)
  promised(events.length === 1, `${events.length} events were written with it`)
  return { answer, request, answeredAt, customerId, eventId: events[0]!.id }
}

export async function eventsOf(stage: Stage, customerId: string): Promise<readonly EventHead[]> {
  const query = { entity: customerId, limit: '20' }
  const { body } = await stage.wire.must({ method: 'GET', path: stage.path('/events'), query })
  return body.data as EventHead[]
}

/** What is on the card, and how many mugs are left. */
export async function balances(stage: Stage): Promise<{ points: number; stock: number }> {
  const { credential, member, rewardId } = needed(stage.shop, 'a card and a reward')
  const read = async (path: string) => (await stage.wire.must({ method: 'GET', path, credential })).body
  const card = (await read(`/v1/loyalties/members/${member}`)).loyalty_card as { balance: number }
  return { points: card.balance, stock: Number((await read(`/v1/rewards/${rewardId}`)).stock) }
}
