import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Log } from '../../platform/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { newId, type RandomBytes } from '../../platform/secrets.ts'
import { disableUnreachable } from '../webhooks/index.ts'
import { type DestinationId, type ExchangeOutput, LEASE_MS } from './exchange.ts'
import { exchange } from './exchange-batch.ts'
import { payloadOf } from './payload.ts'
import type { OutgoingDelivery, SendResult } from './send-delivery.ts'
import { type Ended, fortunesOf, type Sending, settled } from './settlement.ts'
import { Shares } from './shares.ts'

/** A send takes up to 10 s: a claim that arrives with less than this left of its lease is not begun. */
const LEASE_LEFT_LEAST_MS = 12_000
/** What is claimed ahead is sent as it was claimed: a destination that is changed or disabled is so within this time. */
const WAIT_MOST_MS = 2_000
/** Supervisors kill after ten seconds. */
const FINISH_WITHIN_MS = 8_000

/**
 * Claimed at once: what is learned from these sends counts for the next, so that a crowd of new destinations that all
 * hang cannot take every place in one go.
 */
const CLAIMED_MOST = 128
/** Of bodies in flight; each costs about four times its length. */
const BYTES_MOST = 32 * 1024 * 1024
/** Until bodies have been seen. */
const TYPICAL_BYTES = 8 * 1024

/**
 * What has ended is settled once it is this part of what was claimed, or after this long: while others are under way, a
 * commit that waits a moment serves many more.
 */
const GATHER_PART = 1 / 4
const GATHER_MS = 25

const FROM_THE_START: DestinationId = { project_id: '', id: '' }

interface Waiting {
  readonly sending: Sending
  readonly body: string
  /** By the monotonic clock. */
  readonly until: number
}

export interface DeliveryDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly random: RandomBytes
  /** Without the key to the secrets nothing can be signed. */
  readonly maySend: boolean
  send(delivery: OutgoingDelivery): Promise<SendResult>
}

/**
 * Claims, sends and settles. One exchange with the store is under way at a time; what ends meanwhile is settled by the
 * next one, together with the next claim, so that a commit serves many.
 */
export class Dispatcher {
  readonly #deps: DeliveryDeps
  readonly #shares = new Shares()
  readonly #measure: (sending: Sending, result: SendResult, now: number) => void
  #ended: Ended[] = []
  /** Claimed ahead, by destination, oldest first. */
  readonly #waiting = new Map<string, Waiting[]>()
  #after = FROM_THE_START
  #lapFromTheStart = true
  #bytesInFlight = 0
  /** The longest of the last claim. */
  #bodyBytes = TYPICAL_BYTES
  #stopping = false
  /** The store's clock, less the monotonic one. */
  #storeOffset = 0
  #gathering: NodeJS.Timeout | undefined
  /** Called when what has ended should be settled. */
  onEnded: () => void = () => undefined

  constructor(deps: DeliveryDeps) {
    this.#deps = deps
    this.#measure = measureOf(deps.metrics)
    const inFlight = () => this.#shares.inFlight
    deps.metrics.gauge('jeton_deliveries_in_flight', 'Sends under way in this process.', inFlight)
  }

  /** Until one look at every queue has found nothing more that there is room for. */
  async run(): Promise<void> {
    this.#dropAllLate()
    let mayFindMore: boolean
    do mayFindMore = await this.#exchange(this.#room())
    while (!this.#stopping && mayFindMore)
  }

  stopClaiming(): void {
    this.#stopping = true
  }

  #room(): number {
    if (this.#stopping || !this.#deps.maySend) return 0
    const bytesLeft = BYTES_MOST - this.#bytesInFlight
    return Math.max(0, Math.min(this.#shares.free, CLAIMED_MOST, Math.ceil(bytesLeft / this.#bodyBytes)))
  }

  /** Waits for what is in flight and settles it. What takes too long falls due again when its lease ends. */
  async finish(): Promise<void> {
    const { clock } = this.#deps
    const end = clock.monotonic() + FINISH_WITHIN_MS
    while (this.#shares.inFlight + this.#ended.length > 0 && clock.monotonic() < end) {
      const alarm = new AbortController()
      this.onEnded = () => alarm.abort()
      if (this.#ended.length === 0) await clock.sleep(end - clock.monotonic(), alarm.signal)
      await this.#exchange(0)
    }
  }

  /** Whether a further round may find more. */
  async #exchange(most: number): Promise<boolean> {
    const { clock, random } = this.#deps
    const ended = this.#ended
    if (most === 0 && ended.length === 0) return false
    this.#ended = []
    const claimId = newId(random, '')
    const askedAt = clock.monotonic()
    const out = await this.#exchangeWithStore(ended, { id: claimId, most }).catch((error) => {
      // Kept for the next round: the sends have happened, whether the store knows or not.
      this.#ended.push(...ended)
      throw error
    })
    this.#storeOffset = out.now - clock.monotonic()
    // An answer that took so long that someone else may soon hold the claims: they fall due again by themselves.
    if (clock.monotonic() - askedAt <= LEASE_MS - LEASE_LEFT_LEAST_MS) this.#begin(out, claimId)
    const mayFindMore = most > 0 && this.#goOn(out.next)
    await this.#disable(ended)
    return mayFindMore
  }

  /** Where the next walk begins. False after one from the first queue to the last: who is due then has no room. */
  #goOn(next: DestinationId | null): boolean {
    if (this.#after === FROM_THE_START) this.#lapFromTheStart = true
    this.#after = next ?? FROM_THE_START
    if (next !== null) return this.#room() > 0
    const sawAll = this.#lapFromTheStart
    this.#lapFromTheStart = false
    return !sawAll && this.#room() > 0
  }

  #exchangeWithStore(ended: readonly Ended[], claim: { id: string; most: number }): Promise<ExchangeOutput> {
    const { db, clock } = this.#deps
    return exchange(db, {
      now: clock.now(),
      settlements: ended.map(({ settlement }) => settlement),
      ...fortunesOf(ended),
      claim: { ...claim, share: this.#shares.share, rooms: this.#shares.rooms(), after: this.#after },
    })
  }

  #begin({ deliveries, events, destinations }: ExchangeOutput, claimId: string): void {
    const eventOf = new Map(events.map((event) => [event.id, event]))
    const destinationOf = new Map(destinations.map((destination) => [destination.id, destination]))
    let longest = 0
    for (const delivery of deliveries) {
      const event = eventOf.get(delivery.event_id)
      const destination = destinationOf.get(delivery.destination_id)
      // Removed between the claim and the reading: there is nothing left to send.
      if (!event || !destination) continue
      const body = payloadOf(delivery, event.data)
      longest = Math.max(longest, body.length)
      this.#bytesInFlight += body.length
      const sending = { claimId, delivery, event, destination }
      if (this.#shares.mayBegin(destination)) void this.#send(sending, body)
      else this.#wait(sending, body)
    }
    if (longest > 0) this.#bodyBytes = longest
  }

  #wait(sending: Sending, body: string): void {
    const { destination } = sending
    const waiting = this.#waiting.get(destination.id) ?? []
    this.#waiting.set(destination.id, waiting)
    waiting.push({ sending, body, until: this.#deps.clock.monotonic() + WAIT_MOST_MS })
    this.#shares.wait(destination, 1)
  }

  #beginWaiting(destination: DestinationId): void {
    const waiting = this.#waiting.get(destination.id)
    if (!waiting) return
    this.#dropLate(waiting)
    while (waiting.length > 0 && this.#shares.mayBegin(destination)) {
      const { sending, body } = waiting.shift()!
      this.#shares.wait(destination, -1)
      void this.#send(sending, body)
    }
    if (waiting.length === 0) this.#waiting.delete(destination.id)
  }

  /** What has waited too long falls due again by itself, when its lease ends. */
  #dropLate(waiting: Waiting[]): void {
    const now = this.#deps.clock.monotonic()
    while (waiting.length > 0 && waiting[0]!.until <= now) {
      const { sending, body } = waiting.shift()!
      this.#shares.wait(sending.destination, -1)
      this.#bytesInFlight -= body.length
    }
  }

  /** Also where a destination hangs, and none of its sends ends. */
  #dropAllLate(): void {
    for (const [id, waiting] of this.#waiting) {
      this.#dropLate(waiting)
      if (waiting.length === 0) this.#waiting.delete(id)
    }
  }

  #storeNow = (): number => Math.round(this.#storeOffset + this.#deps.clock.monotonic())

  async #send(sending: Sending, body: string): Promise<void> {
    const { delivery, event, destination } = sending
    const startedAt = this.#storeNow()
    this.#shares.begin(destination)
    const result = await this.#deps
      .send({
        deliveryId: delivery.id,
        kind: event.kind,
        attempt: delivery.attempts_made + 1,
        body,
        destination,
        nowMs: startedAt,
      })
      .catch((error) => this.#unsent(delivery.id, error))
    const now = this.#storeNow()
    this.#bytesInFlight -= body.length
    this.#measure(sending, result, now)
    this.#end(settled(this.#deps, sending, { result, startedAt, now }))
  }

  /** A bug of ours costs one attempt of one delivery an hour, and not the process. */
  #unsent(delivery: string, err: unknown): SendResult {
    this.#deps.log.error({ err, delivery }, 'bug: not sent')
    const error = 'not sent: an error inside Jeton, which is in its log'
    return { durationMs: 0, status: null, responseBody: null, error, outcome: 'unsent', retryAfterMs: null }
  }

  /** Its place is free at once, so that the exchange which settles it can claim the next. */
  #end(ended: Ended): void {
    this.#shares.end(ended.destination, ended)
    this.#beginWaiting(ended.destination)
    this.#ended.push(ended)
    if (this.#ended.length >= this.#shares.held * GATHER_PART) this.#settleNow()
    else this.#gathering ??= setTimeout(this.#settleNow, GATHER_MS)
  }

  readonly #settleNow = (): void => {
    clearTimeout(this.#gathering)
    this.#gathering = undefined
    this.onEnded()
  }

  async #disable(ended: readonly Ended[]): Promise<void> {
    for (const { destination, disable } of ended) {
      if (disable === null) continue
      const changed = await disableUnreachable(this.#deps, destination, disable)
      if (changed)
        this.#deps.log.warn({ destination: destination.id, reason: disable }, 'destination disabled')
    }
  }
}

function measureOf(metrics: Metrics) {
  const attempts = metrics.counter(
    'jeton_delivery_attempts_total',
    'Attempts to deliver an event, by how they ended.',
  )
  const arrival = metrics.histogram(
    'jeton_delivery_arrival_seconds',
    'From the commit of an event to its arrival at a destination, where the first attempt succeeded.',
  )()
  return ({ delivery, event }: Sending, { outcome }: SendResult, now: number): void => {
    attempts({ outcome }).add()
    if (outcome === 'delivered' && delivery.attempts_made === 0)
      arrival.observe(Math.max(0, now - event.created_at) / 1000)
  }
}
