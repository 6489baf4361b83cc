import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Log } from '../../platform/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { newId, type RandomBytes } from '../../platform/secrets.ts'
import { disableUnreachable } from '../webhooks/index.ts'
import { type Claim, type DestinationId, type ExchangeOutput, LEASE_MS } from './exchange.ts'
import { exchange } from './exchange-batch.ts'
import { payloadBytes } from './payload.ts'
import type { OutgoingDelivery, SendResult } from './send-delivery.ts'
import { type Ended, fortunesOf, type Sending, settled } from './settlement.ts'
import { type Place, Shares } from './shares.ts'
import { WaitingSends } from './waiting-sends.ts'
import { Walk } from './walk.ts'

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
const GATHER_PART = 1 / 2
const GATHER_MS = 25

/**
 * Fanning out pauses while so many wait, or due ones are left in the store, so that what comes goes on being sent without
 * being claimed first; but only so long, since there are others to be told.
 */
const WAITING_ENOUGH = 512
const PAUSE_MOST_MS = 100

/** A delivery that is written as claimed, for which a place is kept. */
export interface Kept {
  readonly sending: Sending
  readonly place: Place
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
  readonly #waiting = new WaitingSends()
  readonly #walk = new Walk()
  #bytesInFlight = 0
  /** The longest of the last claim. */
  #bodyBytes = TYPICAL_BYTES
  #stopping = false
  /** The store's clock, less the monotonic one. */
  #storeOffset = 0
  #gathering: NodeJS.Timeout | undefined
  /** Ends a pause of the fan-out. */
  #resume: () => void = () => undefined
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
    this.#dropLate()
    const looks = this.#walk.mayFind(this.#deps.clock.monotonic())
    let mayFindMore: boolean
    do mayFindMore = await this.#exchange(looks ? this.#room() : 0)
    while (!this.#stopping && mayFindMore)
  }

  /** Something has fallen due: the next run looks for it. */
  look(): void {
    this.#walk.look()
  }

  /** A place for a delivery that is about to be written, if there is one: it is then written as claimed. */
  keep(sending: Sending): Kept | undefined {
    if (this.#stopping || !this.#deps.maySend || this.#bytesInFlight >= BYTES_MOST) return undefined
    const place = this.#shares.reserve(sending.destination)
    if (!place) return undefined
    this.#bytesInFlight += lengthOf(sending)
    return { sending, place }
  }

  /** Whether it is worth a moment's waiting until there is a place. */
  isFull(destination: DestinationId): boolean {
    return this.#shares.isFull(destination)
  }

  /** They are written, by a store whose time was `now` when the monotonic clock showed `at`. */
  beginKept(kept: readonly Kept[], { now, at }: { now: number; at: number }): void {
    const { clock } = this.#deps
    this.#storeOffset = now - at
    if (clock.monotonic() - at > LEASE_MS - LEASE_LEFT_LEAST_MS) {
      this.letGo(kept)
      return
    }
    for (const { sending, place } of kept) {
      if (place === 'in flight') void this.#send(sending)
      else this.#wait(sending)
    }
    // Those whose place they waited for may have ended meanwhile.
    for (const { sending, place } of kept) if (place === 'waiting') this.#beginWaiting(sending.destination)
  }

  /** They are not: what was written nevertheless falls due when its lease ends. */
  letGo(kept: readonly Kept[]): void {
    for (const { sending, place } of kept) {
      this.#bytesInFlight -= lengthOf(sending)
      this.#shares.letGo(sending.destination, place)
    }
  }

  get #mayFanOut(): boolean {
    return this.#stopping || (!this.#walk.isBehind && this.#shares.waiting < WAITING_ENOUGH)
  }

  /** Until there is room for more to be sent at once. */
  async untilRoom(): Promise<void> {
    if (this.#mayFanOut) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, PAUSE_MOST_MS)
      this.#resume = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  stopClaiming(): void {
    this.#stopping = true
    this.#resume()
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
    const rooms = most > 0 ? this.#shares.rooms() : []
    const claim: Claim = {
      id: newId(random, ''),
      most,
      share: this.#shares.share,
      rooms,
      after: this.#walk.after,
    }
    const askedAt = clock.monotonic()
    const out = await this.#exchangeWithStore(ended, claim).catch((error) => {
      // Kept for the next round: the sends have happened, whether the store knows or not.
      this.#ended.push(...ended)
      throw error
    })
    this.#storeOffset = out.now - clock.monotonic()
    // An answer that took so long that someone else may soon hold the claims: they fall due again by themselves.
    if (clock.monotonic() - askedAt <= LEASE_MS - LEASE_LEFT_LEAST_MS) this.#begin(out, claim.id)
    const goesOn = most > 0 && this.#walk.saw({ claim, out, at: askedAt, isLimited: this.#isLimited })
    if (this.#mayFanOut) this.#resume()
    await this.#disable(ended)
    return goesOn && this.#room() > 0
  }

  readonly #isLimited = (destination: DestinationId): boolean => this.#shares.isLimited(destination)

  #exchangeWithStore(ended: readonly Ended[], claim: Claim): Promise<ExchangeOutput> {
    const { db, clock } = this.#deps
    return exchange(db, {
      now: clock.now(),
      settlements: ended.map(({ settlement }) => settlement),
      ...fortunesOf(ended),
      claim,
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
      const sending = { claimId, delivery, event, destination }
      const length = lengthOf(sending)
      longest = Math.max(longest, length)
      this.#bytesInFlight += length
      if (this.#shares.mayBegin(destination)) {
        this.#shares.begin(destination)
        void this.#send(sending)
      } else {
        this.#shares.wait(destination, 1)
        this.#wait(sending)
      }
    }
    if (longest > 0) this.#bodyBytes = longest
  }

  #wait(sending: Sending): void {
    this.#waiting.add(sending, this.#deps.clock.monotonic() + WAIT_MOST_MS)
  }

  #beginWaiting(destination: DestinationId): void {
    this.#dropLate([destination.id])
    while (this.#shares.mayBegin(destination)) {
      const sending = this.#waiting.take(destination.id)
      if (!sending) return
      this.#shares.wait(destination, -1)
      this.#shares.begin(destination)
      void this.#send(sending)
    }
  }

  /** What has waited too long falls due again by itself, when its lease ends: also of a destination that hangs. */
  #dropLate(of?: readonly string[]): void {
    for (const sending of this.#waiting.takeLate(this.#deps.clock.monotonic(), of)) {
      this.#shares.wait(sending.destination, -1)
      this.#bytesInFlight -= lengthOf(sending)
    }
  }

  #storeNow = (): number => Math.round(this.#storeOffset + this.#deps.clock.monotonic())

  async #send(sending: Sending): Promise<void> {
    const { delivery, event, destination } = sending
    const startedAt = this.#storeNow()
    const result = await this.#deps
      .send({
        deliveryId: delivery.id,
        kind: event.kind,
        attempt: delivery.attempts_made + 1,
        body: payloadBytes(delivery, event.data),
        destination,
        nowMs: startedAt,
      })
      .catch((error) => this.#unsent(delivery.id, error))
    const now = this.#storeNow()
    this.#bytesInFlight -= lengthOf(sending)
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
    if (this.#mayFanOut) this.#resume()
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

/** About as long as its bytes. */
const lengthOf = ({ delivery, event }: Sending): number =>
  delivery.head.length + event.data.length + delivery.tail.length

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
