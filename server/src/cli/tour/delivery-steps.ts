import { span } from '../cells.ts'
import { bring } from './destination.ts'
import { NotAsPromised, needed, promised, shownMs } from './promised.ts'
import { type Arrival, judgeArrival } from './receiver.ts'
import { redeemMug } from './shop.ts'
import type { Destination, Redeemed, Stage } from './stage.ts'
import type { Step } from './step.ts'
import type { TourAnswer } from './wire.ts'

/** A send takes 10 s at most; the rest is for what comes before and after it. */
const SEND_WITHIN_MS = 12_000

/** As lists tell of it. */
interface Delivery {
  readonly id: string
  readonly status: string
  readonly attempts_made: number
  readonly next_attempt_at: string | null
}

interface Attempt {
  readonly at: string
  readonly status: number | null
  readonly error: string | null
}

function destinationOf(stage: Stage): Destination {
  const found = needed(stage.destination, 'a webhook')
  if (found instanceof NotAsPromised) throw found
  return found
}

const webhook: Step = {
  name: 'the event arrives',
  proves: 'Every subscriber gets the event, signed as Standard Webhooks has it.',
  byHand: 'npx jeton listen --forward-to localhost:3000/hook',
  async run(stage) {
    const destination = destinationOf(stage)
    const redeemed = needed(stage.redeemed, 'a redemption')
    const arrival = await arrivalOf(stage, redeemed, destination)
    const { fits, reason } = judgeArrival(arrival, destination.secret)
    promised(fits, `the signature does not fit: ${reason}`)
    const sent = destination.way === 'sent'
    const ms = shownMs(Math.max(0, arrival.at - redeemed.answeredAt))
    return {
      result: sent ? `${ms} after the answer` : 'brought to this machine',
      proof: 'signature fits',
      more: ['Judged as by `jeton verify`; any Standard Webhooks library does the same.'],
    }
  },
}

async function arrivalOf(stage: Stage, { eventId }: Redeemed, destination: Destination): Promise<Arrival> {
  if (destination.way === 'brought') {
    await deliveryOf(stage, eventId, () => true)
    return bring(stage, eventId, destination)
  }
  const isMeant = ({ body }: Arrival) => body.includes(`"${eventId}"`)
  const until = { withinMs: SEND_WITHIN_MS, stopped: stage.live.stopped }
  const found = await stage.receiver.arrived(isMeant, until)
  if (!found) throw new NotAsPromised(`it did not arrive within ${SEND_WITHIN_MS / 1000} s`)
  return found
}

/** The only delivery of an event, as soon as it is so. */
async function deliveryOf(
  stage: Stage,
  eventId: string,
  isSo: (delivery: Delivery) => boolean,
): Promise<Delivery> {
  const list = { method: 'GET', path: stage.path('/deliveries'), query: { event: eventId } }
  const first = ({ body }: TourAnswer) => (body.data as Delivery[] | undefined)?.[0]
  const there = (answer: TourAnswer) => first(answer) !== undefined && isSo(first(answer)!)
  const answer = await stage.wire.until(list, there, SEND_WITHIN_MS)
  promised(there(answer), `nothing was sent within ${SEND_WITHIN_MS / 1000} s: is a worker running?`)
  return first(answer)!
}

async function attemptsOf(stage: Stage, { id }: Delivery): Promise<readonly Attempt[]> {
  const { body } = await stage.wire.must({ method: 'GET', path: stage.path(`/deliveries/${id}`) })
  return body.attempts as readonly Attempt[]
}

const down: Step = {
  name: 'a receiver is down',
  proves: 'Every attempt is on record, and the next one is settled.',
  byHand: 'npx jeton delivery list',
  async run(stage) {
    const { way } = destinationOf(stage)
    stage.receiver.outOfOrder = way === 'sent'
    const { eventId } =
      way === 'sent' ? await redeemMug(stage, 'second-mug') : needed(stage.redeemed, 'a redemption')
    const delivery = await deliveryOf(stage, eventId, (one) => one.attempts_made > 0)
    const [attempt] = await attemptsOf(stage, delivery)
    const next = delivery.next_attempt_at
    promised(attempt !== undefined && next !== null, `the delivery is ${delivery.status}`)
    stage.failing = { eventId, deliveryId: delivery.id, attemptsMade: delivery.attempts_made }
    const seen = {
      result: attempt.status ? `attempt 1: ${attempt.status}, on record` : 'attempt 1 failed, on record',
      proof: `by itself in ${span(Date.parse(next) - Date.parse(attempt.at))}`,
    }
    return attempt.error ? { ...seen, more: [`On record: ${attempt.error}`] } : seen
  },
}

const retry: Step = {
  name: 'sent once more',
  proves: 'What is sent again has the same id and the same bytes.',
  byHand: 'npx jeton delivery retry "$DELIVERY"',
  async run(stage) {
    const { eventId, deliveryId, attemptsMade } = needed(stage.failing, 'a delivery that failed')
    const destination = destinationOf(stage)
    const ofIt = stage.receiver.arrivals.filter(({ id }) => id === deliveryId)
    stage.receiver.outOfOrder = false
    const started = performance.now()
    await stage.wire.must({ method: 'POST', path: stage.path(`/deliveries/${deliveryId}/retry`) })
    const after = await deliveryOf(stage, eventId, (one) => one.attempts_made > attemptsMade)
    const arrival =
      destination.way === 'sent' ? stage.receiver.arrivals.at(-1) : await bring(stage, eventId, destination)
    const ms = shownMs(performance.now() - started)
    promised(arrival !== undefined && !ofIt.includes(arrival), 'it did not arrive')
    promised(arrival.id === deliveryId, `its webhook-id is ${arrival.id}, and was ${deliveryId}`)
    promised(arrival.body === ofIt[0]?.body, 'its bytes are others')
    promised(judgeArrival(arrival, destination.secret).fits, 'its signature does not fit')
    promised(destination.way === 'brought' || after.status === 'delivered', `it is ${after.status}`)
    return { result: 'same webhook-id, same bytes', proof: `attempt ${after.attempts_made}, ${ms}` }
  },
}

export const DELIVERY_STEPS: readonly Step[] = [webhook, down, retry]
