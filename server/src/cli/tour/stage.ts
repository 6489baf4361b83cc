import type { ApiRequest } from '../call-api.ts'
import type { Live } from '../io.ts'
import { NotAsPromised } from './promised.ts'
import type { TourReceiver } from './receiver.ts'
import { asPair, type Pair, type TourAnswer, type Wire } from './wire.ts'

export interface TourProject {
  readonly id: string
  readonly name: string
}

export interface TourKey extends Pair {
  /** Of the management API. */
  readonly path: string
}

/** A card with points, and what they buy. */
export interface Shop {
  readonly credential: Readonly<Record<string, string>>
  readonly member: string
  readonly rewardId: string
}

/** A redemption that was made, and the event that it wrote. */
export interface Redeemed {
  readonly answer: TourAnswer
  /** What to send it with once more. */
  readonly request: ApiRequest
  readonly answeredAt: number
  readonly customerId: string
  readonly eventId: string
}

/** A webhook of the tour, and how its events come to the receiver on this machine. */
export interface Destination {
  readonly id: string
  readonly secret: string
  /** `sent` by the server itself; `brought` as `jeton listen` does it, where the server may not send here. */
  readonly way: 'sent' | 'brought'
}

interface Failing {
  readonly eventId: string
  readonly deliveryId: string
  readonly attemptsMade: number
}

interface Parts {
  /** Whether the server runs on this machine, so that it could send here. */
  readonly isServerHere: boolean
  readonly wire: Wire
  readonly live: Live
  readonly receiver: TourReceiver
  readonly project: TourProject
}

/** The throw-away project, and what steps leave for those after them. */
export class Stage {
  readonly isServerHere: boolean
  readonly wire: Wire
  readonly live: Live
  readonly receiver: TourReceiver
  readonly project: TourProject
  key: TourKey | undefined
  /** Another key of the project: what is blocked cannot ask. */
  watcher: TourKey | undefined
  token: string | undefined
  shop: Shop | undefined
  redeemed: Redeemed | undefined
  /** What did not arrive at first. */
  failing: Failing | undefined
  /** Where its events go, or why there is no such place. */
  destination: Destination | NotAsPromised | undefined

  constructor({ isServerHere, wire, live, receiver, project }: Parts) {
    this.isServerHere = isServerHere
    this.wire = wire
    this.live = live
    this.receiver = receiver
    this.project = project
  }

  /** Below this project of the management API. */
  path(rest: string): string {
    return `/management/v1/projects/${this.project.id}${rest}`
  }

  async makeKey(name: string, fields: object = {}): Promise<TourKey> {
    const request = { method: 'POST', path: this.path('/api-keys'), body: { name, ...fields } }
    const { body } = await this.wire.must(request)
    return {
      appId: String(body.app_id),
      appToken: String(body.app_token),
      path: this.path(`/api-keys/${body.id}`),
    }
  }

  issue(pair: Pair, scope = 'loyalties rewards'): Promise<TourAnswer> {
    const form = { grant_type: 'client_credentials', scope }
    return this.wire.ask({ method: 'POST', path: '/v1/oauth/token', form, credential: asPair(pair) })
  }

  /** What an API asks about a token. */
  introspection(pair: Pair, token: string): ApiRequest {
    return { method: 'POST', path: '/v1/oauth/introspect', form: { token }, credential: asPair(pair) }
  }

  /** Why a request was refused, as an operator is told. A process writes refusals down within two seconds. */
  async explained({ requestId }: TourAnswer): Promise<string> {
    const request = { method: 'GET', path: `/management/v1/refusals/${requestId}` }
    const { status, body } = await this.wire.until(request, (answer) => answer.status !== 404, REFUSAL_MS)
    const steps = (body.steps ?? []) as readonly { passed: boolean; says: string }[]
    const failed = steps.find(({ passed }) => !passed)
    if (status === 200 && failed) return `jeton explain ${requestId}: ${failed.says}`
    throw new NotAsPromised(`the refusal ${requestId} is not on record`)
  }
}

const REFUSAL_MS = 5_000
