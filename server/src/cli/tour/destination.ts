import { isLoopbackHost } from '../../platform/addresses.ts'
import { handOver } from '../live/local-receiver.ts'
import { NotAsPromised, promised } from './promised.ts'
import type { Arrival } from './receiver.ts'
import type { Destination, Stage } from './stage.ts'
import { saidBy, type TourAnswer } from './wire.ts'

const KIND = 'customer.reward_redemptions.completed'
/** RFC 6761: no name below it is ever found, so a receiver there is down for certain. */
const DOWN_URL = 'https://receiver.invalid/hook'

/** At the receiver here, if the server sends to this machine; else at one that cannot be reached. */
export async function openDestination(stage: Stage): Promise<Destination | NotAsPromised> {
  const here = stage.isServerHere ? await create(stage, stage.receiver.url) : undefined
  if (here?.status === 201) return made(here, 'sent')
  const refusedHere = here === undefined || here.status === 400
  const there = refusedHere ? await create(stage, DOWN_URL) : here
  return there.status === 201
    ? made(there, 'brought')
    : new NotAsPromised(`a webhook cannot be made: ${saidBy(there)}`)
}

export const isOnThisMachine = (url: string): boolean =>
  isLoopbackHost(new URL(url).hostname.replace(/^\[|\]$/g, ''))

const create = (stage: Stage, target_url: string): Promise<TourAnswer> =>
  stage.wire.ask({ method: 'POST', path: stage.path('/webhooks'), body: { target_url, events: [KIND] } })

const made = ({ body }: TourAnswer, way: Destination['way']): Destination => ({
  id: String(body.id),
  secret: String(body.secret),
  way,
})

/** Signed by the server at this moment, handed over here: the same headers and bytes as if it were sent. */
export async function bring(stage: Stage, eventId: string, { id }: Destination): Promise<Arrival> {
  const path = stage.path(`/events/${eventId}/signed`)
  const { body } = await stage.wire.must({ method: 'POST', path, body: { destination: id } })
  const signed = body as unknown as { headers: Record<string, string>; body: string }
  const outcome = await handOver(new URL(stage.receiver.url), signed)
  promised(outcome.status === 204, `the receiver here said ${outcome.status ?? outcome.said}`)
  return stage.receiver.arrivals.at(-1)!
}
