import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Log } from '../../platform/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { JobState } from '../../platform/periodic.ts'
import { newId, type RandomBytes } from '../../platform/secrets.ts'
import type { UsageCounter } from '../usage/index.ts'
import { disableUnreachable } from '../webhooks/index.ts'
import { ClaimCursor } from './claim-cursor.ts'
import { deliveryMetrics } from './delivery-metrics.ts'
import type { Claimed, ClaimRequest, Release } from './delivery-queue.ts'
import { type Capacities, DestinationLimits, NO_CAPACITY } from './destination-limits.ts'
import { payloadBody } from './payload.ts'
import { type ClaimedDelivery, SendBuffer } from './send-buffer.ts'
import type { OutgoingDelivery, SendResult } from './send-delivery.ts'
import { settleAndClaim } from './settle-and-claim.ts'
import { type AttemptResult, bodyLength, destinationHealth, settle, toRelease } from './settlement.ts'

/** A send starts within this time of its claim, or the claim is released, because destinations may change. */
const MAX_BUFFERED_MS = 2_000
/** Deliveries per claim. The first results limit the next claim, so that many new destinations that hang cannot take every permit. */
const CLAIM_LIMIT = 128
/** Bodies in memory; each costs about four times its length. */
const MAX_BYTES_HELD = 32 * 1024 * 1024
/** Assumed until bodies have been claimed. */
const TYPICAL_BODY_BYTES = 8 * 1024
/** Attempts that the store does not know of are made again after a crash, so their number is limited. */
const MAX_UNSETTLED = 2_048
/** While sends are in flight, a short delay lets one commit settle many results. */
const FLUSH_MS = 25
/** Process supervisors usually kill after ten seconds. */
const SHUTDOWN_MS = 8_000
const RETRY_FLUSH_MS = 250

export interface DeliveryDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs?: JobState[]
  readonly metrics: Metrics
  readonly usage: UsageCounter
  readonly random: RandomBytes
  /** False without the encryption key: secrets cannot be read, so nothing can be signed. */
  readonly canSign: boolean
  send(delivery: OutgoingDelivery): Promise<SendResult>
}

interface Waiter {
  readonly isReady: () => boolean
  readonly resume: () => void
}

/** Claims, sends and settles. One exchange with the store is in progress at a time. */
export class Dispatcher {
  readonly #deps: DeliveryDeps
  readonly #limits = new DestinationLimits()
  readonly #buffer = new SendBuffer()
  readonly #cursor = new ClaimCursor()
  readonly #recordMetrics: ReturnType<typeof deliveryMetrics>
  #completed: AttemptResult[] = []
  #released: Release[] = []
  #bytesHeld = 0
  /** Length of the longest body of the last claim, which limits the next claim. */
  #bodyBytes = TYPICAL_BODY_BYTES
  #isStopping = false
  #isStoreDown = false
  /** The store's clock minus the monotonic one. */
  #storeOffset = 0
  #drainTimer: NodeJS.Immediate | undefined
  #flushTimer: NodeJS.Timeout | undefined
  #waiter: Waiter | undefined
  /** Called when results should be settled. */
  onFlushDue: () => void = () => undefined

  constructor(deps: DeliveryDeps) {
    this.#deps = deps
    this.#recordMetrics = deliveryMetrics(deps)
    const inFlight = () => this.#limits.inFlight
    deps.metrics.read('jeton_deliveries_in_flight', inFlight)
  }

  /** True if the last exchange failed. Nothing is relayed, claimed or started until one succeeds. */
  get isStoreDown(): boolean {
    return this.#isStoreDown
  }

  get bufferedCount(): number {
    return this.#buffer.size
  }

  /** True if due deliveries may remain in the store. Always false during shutdown. */
  get mayHaveDue(): boolean {
    return !this.#isStopping && this.#cursor.mayHaveDue
  }

  /** How many more deliveries may be claimed now. */
  capacities(): Capacities {
    const isWithinLimits = this.#bytesHeld < MAX_BYTES_HELD && this.#completed.length < MAX_UNSETTLED
    const canClaim = this.#deps.canSign && !this.#isStopping && !this.#isStoreDown && isWithinLimits
    return canClaim ? this.#limits.capacities(this.#now()) : NO_CAPACITY
  }

  /** Called when deliveries have become due: the next run claims them. */
  notifyDue(): void {
    this.#cursor.notifyDue()
    this.onFlushDue()
  }

  /** Takes deliveries that were stored as claimed. The store's time was `storeTime` at the monotonic time `at`. */
  add(claimed: readonly ClaimedDelivery[], { storeTime, at }: { storeTime: number; at: number }): void {
    this.#storeOffset = storeTime - at
    for (const one of claimed) this.#buffered(one)
    this.#drainSoon()
  }

  /** Resolves when the condition holds, or after `maxMs`. Checked after each send and exchange. */
  waitUntil(isReady: () => boolean, maxMs: number): Promise<void> {
    if (this.#isStopping || isReady()) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#waiter?.resume(), maxMs)
      const resume = () => {
        clearTimeout(timer)
        this.#waiter = undefined
        resolve()
      }
      this.#waiter = { isReady, resume }
    })
  }

  /** Settles and claims until a round over all queues has found nothing more that can be sent. */
  async run(): Promise<void> {
    const shouldClaim = this.#cursor.shouldClaim(this.#now())
    let mayFindMore: boolean
    do mayFindMore = await this.#exchange(shouldClaim)
    while (!this.#isStopping && mayFindMore)
  }

  stopClaiming(): void {
    this.#isStopping = true
    this.#waiter?.resume()
  }

  /** Releases the buffer, waits for the sends in flight and settles them. Unfinished ones are due after their lease. */
  async drainAndStop(): Promise<void> {
    const { clock } = this.#deps
    const end = this.#now() + SHUTDOWN_MS
    this.stopClaiming()
    this.#releaseExpired(Number.POSITIVE_INFINITY)
    let failure: unknown
    while (this.#hasUnsettled && this.#now() < end) {
      const flushDue = new AbortController()
      this.onFlushDue = () => flushDue.abort()
      if (this.#completed.length + this.#released.length === 0)
        await clock.sleep(end - this.#now(), flushDue.signal)
      try {
        await this.#exchange(false)
      } catch (error) {
        failure = error
        await clock.sleep(RETRY_FLUSH_MS)
      }
    }
    clearTimeout(this.#flushTimer)
    if (this.#hasUnsettled && failure) throw failure
  }

  get #hasUnsettled(): boolean {
    return this.#limits.inFlight + this.#completed.length + this.#released.length > 0
  }

  #now = (): number => this.#deps.clock.monotonic()

  #storeNow = (): number => Math.round(this.#storeOffset + this.#now())

  /** Settles finished attempts and optionally claims. Returns true if another claim may find more. */
  async #exchange(shouldClaim: boolean): Promise<boolean> {
    this.#releaseExpired(this.#now() - MAX_BUFFERED_MS)
    const claim = shouldClaim ? this.#claimRequest() : null
    const [completed, released] = [this.#completed, this.#released]
    // While the store is down, an empty exchange probes whether it is back.
    if (!claim && completed.length + released.length === 0 && !this.#isStoreDown) return false
    this.#completed = []
    this.#released = []
    const at = this.#now()
    if (claim) this.#cursor.start(at)
    const claimed = await settleAndClaim(this.#deps.db, {
      now: this.#deps.clock.now(),
      settlements: completed.map(({ settlement }) => settlement),
      released,
      ...destinationHealth(completed),
      claim,
    }).catch((error) => {
      // The attempts were made, so the next exchange settles them.
      this.#completed = [...completed, ...this.#completed]
      this.#released = [...released, ...this.#released]
      this.#isStoreDown = true
      this.#cursor.notifyDue()
      throw error
    })
    this.#isStoreDown = false
    const deliveries = toDeliveries(claimed, claim?.id ?? '', at)
    if (deliveries.length > 0) this.#bodyBytes = Math.max(...deliveries.map(bodyLength))
    this.add(deliveries, { storeTime: claimed.now, at })
    const hasMore = claim !== null && this.#cursor.advance(claim, claimed)
    this.#resumeWaiter()
    await this.#disable(completed)
    return hasMore && this.#claimRequest() !== null
  }

  /** Returns null if nothing more can be claimed. */
  #claimRequest(): ClaimRequest | null {
    const { total, byDestination, default: defaultCapacity } = this.capacities()
    const bodiesLeft = Math.ceil((MAX_BYTES_HELD - this.#bytesHeld) / this.#bodyBytes)
    const limit = Math.min(CLAIM_LIMIT, total, bodiesLeft)
    if (limit <= 0) return null
    const id = newId(this.#deps.random, '')
    return { id, limit, capacities: byDestination, defaultCapacity, cursor: this.#cursor.position }
  }

  #buffered(claimed: ClaimedDelivery): void {
    this.#buffer.add(claimed)
    this.#limits.addBuffered(claimed.target.id, 1, this.#now())
    this.#bytesHeld += bodyLength(claimed)
  }

  /** Starts sends once per turn of the event loop. */
  #drainSoon(): void {
    this.#drainTimer ??= setImmediate(() => {
      this.#drainTimer = undefined
      this.#drain()
    })
  }

  /** Starts one send per destination and round, until no destination can start another. */
  #drain(): void {
    if (this.#isStopping || this.#isStoreDown) return
    const now = this.#now()
    this.#releaseExpired(now - MAX_BUFFERED_MS)
    let hasStarted: boolean
    do {
      hasStarted = false
      for (const id of this.#buffer.destinations()) {
        if (!this.#limits.tryStart(id, now)) continue
        hasStarted = true
        const claimed = this.#buffer.take(id)!
        this.#limits.addBuffered(id, -1, now)
        void this.#send(claimed)
      }
    } while (hasStarted)
  }

  #releaseExpired(claimedBefore: number): void {
    const expired = this.#buffer.removeExpired(claimedBefore)
    for (const claimed of expired) {
      this.#limits.expireBuffered(claimed.target.id, this.#now())
      this.#bytesHeld -= bodyLength(claimed)
      this.#released.push(toRelease(claimed, this.#storeNow()))
    }
    if (expired.length > 0) this.#flushSoon()
  }

  async #send(claimed: ClaimedDelivery): Promise<void> {
    const { delivery, event, target } = claimed
    const startedAt = this.#storeNow()
    const result = await this.#deps
      .send({
        deliveryId: delivery.id,
        kind: event.kind,
        attempt: delivery.attempts_made + 1,
        body: payloadBody(delivery, event.data),
        traceparent: event.traceparent,
        target,
        nowMs: startedAt,
      })
      .catch((error) => this.#notSent(delivery.id, error))
    const now = this.#storeNow()
    this.#bytesHeld -= bodyLength(claimed)
    this.#recordMetrics(claimed, result, now)
    const attempt = settle(this.#deps, claimed, { result, startedAt, now })
    this.#limits.end(target.id, attempt, this.#now())
    this.#completed.push(attempt)
    this.#drainSoon()
    this.#flushSoon()
    this.#resumeWaiter()
  }

  /** A bug in Jeton costs one attempt of one delivery per hour, and does not crash the process. */
  #notSent(delivery: string, err: unknown): SendResult {
    this.#deps.log.error({ err, delivery }, 'bug: not sent')
    const error = 'not sent: internal error in Jeton, see its log'
    return { durationMs: 0, status: null, responseBody: null, error, outcome: 'unsent', retryAfterMs: null }
  }

  #flushSoon(): void {
    if (this.#limits.inFlight + this.#buffer.size === 0) this.#flush()
    else this.#flushTimer ??= setTimeout(this.#flush, FLUSH_MS)
  }

  readonly #flush = (): void => {
    clearTimeout(this.#flushTimer)
    this.#flushTimer = undefined
    this.onFlushDue()
  }

  #resumeWaiter(): void {
    if (this.#waiter?.isReady()) this.#waiter.resume()
  }

  async #disable(completed: readonly AttemptResult[]): Promise<void> {
    for (const { target, disable } of completed) {
      if (disable === null) continue
      const hasChanged = await disableUnreachable(this.#deps, target, disable)
      if (hasChanged) this.#deps.log.warn({ destination: target.id, reason: disable }, 'destination disabled')
    }
  }
}

/** Joins the rows of a claim. Deliveries whose event or destination was deleted are skipped. */
function toDeliveries(claimed: Claimed, claimId: string, claimedAt: number): ClaimedDelivery[] {
  const eventOf = new Map(claimed.events.map((event) => [event.id, event]))
  const targetOf = new Map(claimed.targets.map((target) => [target.id, target]))
  return claimed.deliveries.flatMap((row) => {
    const [event, target] = [eventOf.get(row.event_id), targetOf.get(row.destination_id)]
    if (!event || !target) return []
    return [{ claimId, claimedAt, event, target, delivery: row }]
  })
}
