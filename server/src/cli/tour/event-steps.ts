import { isLoopbackHost } from '../../platform/addresses.ts'
import { span } from '../format.ts'
import type { EventHead } from '../live/event-feed.ts'
import { type Arrival, postTo } from '../live/local-receiver.ts'
import { checkSignature } from '../verify/check-signature.ts'
import { createKey } from './token-steps.ts'
import { ensure, needed, type Step, shownMs, type TourAnswer, type TourProject } from './tour-project.ts'

const POINTS = 500
const PRICE = 100
const STOCK = 40
const KIND = 'customer.reward_redemptions.completed'
/** A name that never resolves (RFC 6761), so this receiver is always down. */
const DOWN_URL = 'https://receiver.invalid/hook'
/** An attempt takes at most 10 s; the rest is for the queue. */
const SENT_WITHIN_MS = 12_000
/** The usual tolerance of receivers. */
const TOLERANCE_MS = 300_000

/** Creates a campaign, a card with points, and mugs as the reward. */
async function createShop(project: TourProject) {
  const { credential } = await createKey(project, 'shop')
  const create = (path: string, body: object) => project.post(`/v1${path}`, body, credential)
  const voucher = { type: 'LOYALTY_CARD', loyalty_card: { points: POINTS } }
  const campaign = await create('/loyalties', { name: 'Club', voucher })
  const card = await create(`/loyalties/${campaign.id}/members`, { customer: { name: 'Ada Tour' } })
  const product = await create('/products', { name: 'Mug' })
  const parameters = { product: { id: product.id } }
  const reward = await create('/rewards', { name: 'Mug', type: 'MATERIAL', stock: STOCK, parameters })
  const price = { loyalty: { points: PRICE } }
  await create(`/rewards/${reward.id}/assignments`, { campaign: campaign.id, parameters: price })
  return { credential, member: `/v1/loyalties/members/${card.code}`, reward: `/v1/rewards/${reward.id}` }
}

type Shop = Awaited<ReturnType<typeof createShop>>

/** Creates a webhook to the local receiver, or to one that is down if the server must not send to this machine. */
async function createWebhook(project: TourProject): Promise<TourAnswer> {
  const create = (target_url: string) =>
    project.send({ method: 'POST', path: project.path('/webhooks'), body: { target_url, events: [KIND] } })
  const { connection, receiver } = project.parts
  const isHere = isLoopbackHost(new URL(connection.url).hostname.replace(/^\[|\]$/g, ''))
  const here = isHere ? await create(receiver.url) : undefined
  const isAllowed = here !== undefined && here.response.status !== 400
  const answer = isAllowed ? here : await create(DOWN_URL)
  if (answer.response.ok) project.via = isAllowed ? 'sent' : 'forwarded'
  return answer
}

async function redeemMug(project: TourProject, { member, reward, credential }: Shop, idempotencyKey: string) {
  const request = {
    method: 'POST',
    path: `${member}/redemption`,
    body: { reward: { id: reward.split('/').at(-1) } },
    headers: { 'Idempotency-Key': idempotencyKey },
    credential,
  }
  const answer = await project.send(request)
  const at = performance.now()
  ensure(answer.shown === '200', `returned ${answer.shown}`)
  const customerId = String(answer.body.customer_id)
  const events = await eventsOf(project, customerId)
  const own = events.filter(({ group_id }) => group_id === answer.requestId)
  ensure(own.length === 1, `${own.length} events were written`)
  return { request, answer, at, customerId, eventId: own[0]!.id }
}

const eventsOf = async (project: TourProject, entity: string): Promise<EventHead[]> =>
  (await project.get('/events', { entity, limit: '20' })).data as EventHead[]

async function balances(project: TourProject, { member, reward, credential }: Shop) {
  const read = async (path: string) => (await project.send({ method: 'GET', path, credential })).body
  const { balance } = ((await read(member)).loyalty_card ?? {}) as { balance?: number }
  return { points: balance, stock: (await read(reward)).stock }
}

interface Delivery {
  readonly id: string
  readonly status: string
  readonly attempts_made: number
  readonly next_attempt_at: string | null
}

/** The only delivery of an event, once it has this many attempts. */
async function deliveryOf(project: TourProject, event: string, attempts: number): Promise<Delivery> {
  const request = { method: 'GET', path: project.path('/deliveries'), query: { event } }
  const first = (body: TourAnswer['body']) => (body.data as Delivery[] | undefined)?.[0]
  const isDone = (body: TourAnswer['body']) => (first(body)?.attempts_made ?? -1) >= attempts
  const { body } = await project.until(request, isDone, SENT_WITHIN_MS)
  ensure(isDone(body), `nothing was sent within ${SENT_WITHIN_MS / 1000} s: is a worker running?`)
  return first(body)!
}

/** Lets the server sign an event and posts it to the local receiver, with the headers and bytes of a delivery. */
async function forward(project: TourProject, eventId: string, destination: string): Promise<void> {
  const signed = await project.post(`/events/${eventId}/signed`, { destination })
  const { headers, body } = signed as { headers: Record<string, string>; body: string }
  const { status, said } = await postTo(new URL(project.parts.receiver.url), { headers, body })
  ensure(status === 204, `the local receiver returned ${status ?? said}`)
}

/** Returns the first matching arrival, and waits for it if the server sends. */
async function arrivalOf(project: TourProject, matches: (arrival: Arrival) => boolean): Promise<Arrival> {
  const { live, receiver } = project.parts
  const deadline = performance.now() + SENT_WITHIN_MS
  for (;;) {
    const found = receiver.arrivals.find(matches)
    if (found) return found
    ensure(performance.now() < deadline && !live.stopped.aborted, 'it did not arrive')
    await live.wait(5)
  }
}

const verdictOn = ({ headers, body }: Arrival, secret: string) =>
  checkSignature({ request: { headers, body }, secret, toleranceMs: TOLERANCE_MS, now: Date.now() })

export function eventSteps(project: TourProject): Step[] {
  const { receiver } = project.parts
  let openShop: Shop | undefined
  let redeemed: Awaited<ReturnType<typeof redeemMug>> | undefined
  let webhook: TourAnswer | undefined
  let failing: { eventId: string; delivery: Delivery } | undefined

  const destination = () => {
    const { shown, body } = needed(webhook)
    ensure(project.via !== undefined, `creating a webhook returned ${shown}`)
    return { id: String(body.id), secret: String(body.secret), isSent: project.via === 'sent' }
  }

  return [
    {
      name: 'redeem a mug',
      proves: 'Points, stock, redemption and event are written in one transaction.',
      byHand: 'jeton redeem SAMPLE-1 Mug',
      async run() {
        openShop = await createShop(project)
        webhook = await createWebhook(project)
        redeemed = await redeemMug(project, openShop, 'first-mug')
        const { points, stock } = await balances(project, openShop)
        const isExact = points === POINTS - PRICE && stock === STOCK - 1
        ensure(isExact, `${points} of ${POINTS} points and ${stock} of ${STOCK} mugs are left`)
        return { result: `${PRICE} points, ${points} left`, proof: `${stock} mugs, 1 event` }
      },
    },
    {
      name: 'repeat the request',
      proves: 'The same Idempotency-Key redeems once, even if it is sent again.',
      byHand: 'curl … -H "Idempotency-Key: first-mug", twice',
      async run() {
        const { request, answer, customerId } = needed(redeemed)
        ensure((await project.send(request)).text === answer.text, 'the response differs')
        const { length } = await eventsOf(project, customerId)
        const { points } = await balances(project, needed(openShop))
        ensure(length === 1 && points === POINTS - PRICE, `there are ${length} events and ${points} points`)
        return { result: 'same response, byte for byte', proof: 'no second event' }
      },
    },
    {
      name: 'receive the event',
      proves: 'Every subscriber receives the event, signed by the Standard Webhooks specification.',
      byHand: 'jeton listen --forward-to localhost:3000/hook',
      async run() {
        const { id, secret, isSent } = destination()
        const { eventId, at } = needed(redeemed)
        if (!isSent) await deliveryOf(project, eventId, 0)
        if (!isSent) await forward(project, eventId, id)
        const arrival = await arrivalOf(project, ({ body }) => body.includes(`"${eventId}"`))
        const { fits, reason } = verdictOn(arrival, secret)
        ensure(fits, `the signature does not match: ${reason}`)
        const ms = shownMs(Math.max(0, arrival.at - at))
        return {
          result: isSent ? `${ms} after the response` : 'forwarded to this machine',
          proof: 'signature matches',
          more: ['Any Standard Webhooks library can check it, as can `jeton verify`.'],
        }
      },
    },
    {
      name: 'receiver is down',
      proves: 'Every attempt is recorded, and the next one is scheduled.',
      byHand: 'jeton delivery list',
      async run() {
        const { isSent } = destination()
        receiver.isDown = isSent
        const source = isSent ? await redeemMug(project, needed(openShop), 'second-mug') : needed(redeemed)
        const delivery = await deliveryOf(project, source.eventId, 1)
        const { attempts } = await project.get(`/deliveries/${delivery.id}`)
        const [attempt] = attempts as { at: string; status: number | null; error: string | null }[]
        const next = delivery.next_attempt_at
        ensure(attempt !== undefined && next !== null, `the delivery is ${delivery.status}`)
        failing = { eventId: source.eventId, delivery }
        return {
          result: attempt.status ? `attempt 1: ${attempt.status}, recorded` : 'attempt 1 failed, recorded',
          proof: `next in ${span(Date.parse(next) - Date.parse(attempt.at))}`,
          ...(attempt.error && { more: [`Recorded: ${attempt.error}`] }),
        }
      },
    },
    {
      name: 'retry the delivery',
      proves: 'A retry has the same id and the same bytes.',
      byHand: 'jeton delivery retry "$DELIVERY"',
      async run() {
        const { eventId, delivery } = needed(failing)
        const { id, secret, isSent } = destination()
        const idOf = ({ headers }: Arrival) => headers.get('webhook-id')
        const known = [...receiver.arrivals]
        receiver.isDown = false
        const started = performance.now()
        await project.post(`/deliveries/${delivery.id}/retry`)
        const { status, attempts_made } = await deliveryOf(project, eventId, delivery.attempts_made + 1)
        if (!isSent) await forward(project, eventId, id)
        const arrival = await arrivalOf(project, (one) => !known.includes(one))
        const ms = shownMs(performance.now() - started)
        ensure(idOf(arrival) === delivery.id, `its webhook-id is ${idOf(arrival)}, and was ${delivery.id}`)
        const first = known.find((one) => idOf(one) === delivery.id)
        ensure(arrival.body === first?.body, 'its bytes differ')
        ensure(verdictOn(arrival, secret).fits, 'its signature does not match')
        ensure(!isSent || status === 'delivered', `the delivery is ${status}`)
        return { result: 'same webhook-id, same bytes', proof: `attempt ${attempts_made}, ${ms}` }
      },
    },
  ]
}
