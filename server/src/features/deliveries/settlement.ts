import type { RandomBytes } from '../../platform/secrets.ts'
import type { Ended } from './ended.ts'
import type {
  Claimed,
  ClaimedDestination,
  ClaimedEvent,
  DestinationId,
  GivenBack,
  Settlement,
} from './exchange.ts'
import type { First } from './first-sends.ts'
import { nextAttempt } from './schedule.ts'
import type { SendResult } from './send-delivery.ts'

/** A destination that has only failed for so long is disabled. */
const FAILING_MOST_MS = 5 * 24 * 60 * 60_000
/** What could not even be sent comes back after this long: someone has to set a key first. */
const UNSENT_MS = 60 * 60_000

export interface Sending {
  readonly claimId: string
  readonly delivery: Claimed
  readonly event: ClaimedEvent
  readonly destination: ClaimedDestination
  /** Where it is sent before it is written. */
  first: First | undefined
}

/** In its place in the queue, where it has not been tried before. */
export const givenBackOf = ({ delivery, event, claimId }: Sending, now: number): GivenBack => ({
  project_id: delivery.project_id,
  id: delivery.id,
  claim_id: claimId,
  due: delivery.attempts_made === 0 ? Math.min(event.created_at, now) : now,
})

/** About as long as its bytes. */
export const lengthOf = ({ delivery, event }: Sending): number =>
  delivery.head.length + event.data.length + delivery.tail.length

interface Times {
  readonly startedAt: number
  readonly now: number
}

export function settled(
  deps: { random: RandomBytes },
  sending: Sending,
  { result, startedAt, now }: Times & { result: SendResult },
): Ended {
  const { delivery, destination, claimId } = sending
  const { outcome } = result
  const place =
    outcome === 'unsent' ? unsent(delivery, now) : followed(deps, delivery, { result, startedAt, now })
  // Written out: this is done for every send, and to copy it takes several times as long.
  const settlement: Settlement = {
    project_id: delivery.project_id,
    id: delivery.id,
    claim_id: claimId,
    status: place.status,
    slot: place.slot,
    first_attempt_at: place.first_attempt_at,
    next_attempt_at: place.next_attempt_at,
    attempt: {
      number: delivery.attempts_made + 1,
      at: startedAt,
      duration_ms: Math.round(result.durationMs),
      status: result.status,
      response_body: storable(result.responseBody),
      error: storable(result.error),
    },
  }
  const succeeded = outcome === 'unsent' ? null : outcome === 'delivered'
  const disable = reasonToDisable(destination, result, now)
  return { settlement, destination, succeeded, durationMs: result.durationMs, disable }
}

type Place = Pick<Settlement, 'status' | 'slot' | 'first_attempt_at' | 'next_attempt_at'>

/** Where the schedule puts it. */
function followed(
  deps: { random: RandomBytes },
  { slot, first_attempt_at }: Claimed,
  { result, startedAt, now }: Times & { result: SendResult },
): Place {
  const { outcome, retryAfterMs } = result
  const firstAttemptAt = first_attempt_at ?? startedAt
  const final = outcome === 'delivered' || outcome === 'refused'
  const next = final ? null : nextAttempt(deps, { firstAttemptAt, slot, now, retryAfterMs })
  return {
    status: outcome === 'delivered' ? 'delivered' : next ? 'pending' : 'exhausted',
    slot: next?.slot ?? slot,
    first_attempt_at: firstAttemptAt,
    next_attempt_at: next?.at ?? null,
  }
}

/** Through no fault of the receiver: it is on record, and the schedule does not notice. */
const unsent = ({ slot, first_attempt_at }: Claimed, now: number): Place => ({
  status: 'pending',
  slot,
  first_attempt_at,
  next_attempt_at: now + UNSENT_MS,
})

/** A receiver may answer what PostgreSQL cannot keep in a text. */
const storable = (text: string | null): string | null =>
  text ? text.toWellFormed().replaceAll('\0', '\ufffd') : text

function reasonToDisable(
  { failing_since }: ClaimedDestination,
  { outcome }: SendResult,
  now: number,
): string | null {
  if (outcome === 'gone') return 'answered 410 Gone'
  const failed = outcome === 'failed' || outcome === 'refused'
  if (!failed || failing_since === null || now - failing_since < FAILING_MOST_MS) return null
  return `every attempt has failed since ${new Date(failing_since).toISOString()}`
}

/**
 * Which destinations a batch shows as failing, and which as well again; one success is enough. That one was well all along
 * need not be said.
 */
export function fortunesOf(ended: readonly Ended[]): {
  failing: DestinationId[]
  recovered: DestinationId[]
} {
  const tried = ended.filter(({ succeeded }) => succeeded !== null)
  const ofDestination = [...Map.groupBy(tried, ({ destination }) => destination.id).values()]
  const which = (group: readonly Ended[]): DestinationId => {
    const { project_id, id } = group[0]!.destination
    return { project_id, id }
  }
  const went = (group: readonly Ended[]) => group.some(({ succeeded }) => succeeded)
  const wasFailing = (group: readonly Ended[]) =>
    group.some(({ destination }) => destination.failing_since !== null)
  return {
    failing: ofDestination.filter((group) => !went(group)).map(which),
    recovered: ofDestination.filter((group) => went(group) && wasFailing(group)).map(which),
  }
}
