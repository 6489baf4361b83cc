import type { RandomBytes } from '../../platform/secrets.ts'
import { nextAttempt } from './backoff.ts'
import type { ClaimedRow, DestinationId, Release, Settlement, Target } from './delivery-queue.ts'
import type { ClaimedDelivery } from './send-buffer.ts'
import type { SendResult } from './send-delivery.ts'

/** A destination that only failed for this time is disabled. */
const MAX_FAILING_MS = 5 * 24 * 60 * 60_000
/** Delay after a delivery could not be signed, because an operator must set a key first. */
const UNSIGNED_DELAY_MS = 60 * 60_000

/** An attempt that has ended and is not stored yet. */
export interface AttemptResult {
  readonly settlement: Settlement
  readonly target: Target
  /** Null if the attempt says nothing about the receiver. */
  readonly succeeded: boolean | null
  readonly durationMs: number
  /** Reason to disable the destination, or null. */
  readonly disable: string | null
}

/** Releases a claim without an attempt. A delivery that was never tried keeps its position in the queue. */
export const toRelease = ({ delivery, event, claimId }: ClaimedDelivery, now: number): Release => ({
  project_id: delivery.project_id,
  id: delivery.id,
  claim_id: claimId,
  due: delivery.attempts_made === 0 ? Math.min(event.created_at, now) : now,
})

/** Length of the body in characters. */
export const bodyLength = ({ delivery, event }: ClaimedDelivery): number =>
  delivery.head.length + event.data.length + delivery.tail.length

interface Times {
  readonly startedAt: number
  readonly now: number
}

export function settle(
  deps: { random: RandomBytes },
  { delivery, target, claimId }: ClaimedDelivery,
  { result, startedAt, now }: Times & { result: SendResult },
): AttemptResult {
  const { outcome, durationMs } = result
  const state =
    outcome === 'unsent'
      ? postponeUnsigned(delivery, now)
      : stateAfter(deps, delivery, { result, startedAt, now })
  const settlement: Settlement = {
    project_id: delivery.project_id,
    id: delivery.id,
    claim_id: claimId,
    ...state,
    attempt: {
      number: delivery.attempts_made + 1,
      at: startedAt,
      duration_ms: Math.round(durationMs),
      status: result.status,
      response_body: sanitizeText(result.responseBody),
      error: sanitizeText(result.error),
    },
  }
  const succeeded = outcome === 'unsent' ? null : outcome === 'delivered'
  return { settlement, target, succeeded, durationMs, disable: reasonToDisable(target, result, now) }
}

type NextState = Pick<Settlement, 'status' | 'slot' | 'first_attempt_at' | 'next_attempt_at'>

function stateAfter(
  deps: { random: RandomBytes },
  { slot, first_attempt_at }: ClaimedRow,
  { result, startedAt, now }: Times & { result: SendResult },
): NextState {
  const { outcome, retryAfterMs } = result
  const firstAttemptAt = first_attempt_at ?? startedAt
  const isFinal = outcome === 'delivered' || outcome === 'refused'
  const next = isFinal ? null : nextAttempt(deps, { firstAttemptAt, slot, now, retryAfterMs })
  return {
    status: outcome === 'delivered' ? 'delivered' : next ? 'pending' : 'exhausted',
    slot: next?.slot ?? slot,
    first_attempt_at: firstAttemptAt,
    next_attempt_at: next?.at ?? null,
  }
}

/** Records the attempt without using up a retry, because the receiver is not at fault. */
const postponeUnsigned = ({ slot, first_attempt_at }: ClaimedRow, now: number): NextState => ({
  status: 'pending',
  slot,
  first_attempt_at,
  next_attempt_at: now + UNSIGNED_DELAY_MS,
})

/** Removes NUL and lone surrogates, which PostgreSQL cannot store as text. */
const sanitizeText = (text: string | null): string | null =>
  text ? text.toWellFormed().replaceAll('\0', '\ufffd') : text

function reasonToDisable({ failing_since }: Target, { outcome }: SendResult, now: number): string | null {
  if (outcome === 'gone') return 'answered 410 Gone'
  const failed = outcome === 'failed' || outcome === 'refused'
  if (!failed || failing_since === null || now - failing_since < MAX_FAILING_MS) return null
  return `every attempt has failed since ${new Date(failing_since).toISOString()}`
}

/** Destinations whose attempts all failed, and those with a success, regardless of their state at the claim. */
export function destinationHealth(results: readonly AttemptResult[]): {
  failing: DestinationId[]
  recovered: DestinationId[]
} {
  const failing: DestinationId[] = []
  const recovered: DestinationId[] = []
  const tried = results.filter(({ succeeded }) => succeeded !== null)
  for (const group of Map.groupBy(tried, ({ target }) => target.id).values()) {
    const { project_id, id } = group[0]!.target
    const hasSucceeded = group.some(({ succeeded }) => succeeded)
    ;(hasSucceeded ? recovered : failing).push({ project_id, id })
  }
  return { failing, recovered }
}
