import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Log } from '../../platform/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { newId, type RandomBytes } from '../../platform/secrets.ts'
import { disableUnreachable } from '../webhooks/index.ts'
import type { Ended } from './ended.ts'
import { type Claim, type DestinationId, type ExchangeOutput, type GivenBack, LEASE_MS } from './exchange.ts'
import { exchange } from './exchange-batch.ts'
import { FIRST_MOST_MS, type First, FirstSends } from './first-sends.ts'
import { sameDestination } from './known-destinations.ts'
import { measureSends } from './measure-sends.ts'
import { payloadBytes, whole } from './payload.ts'
import type { OutgoingDelivery, SendResult } from './send-delivery.ts'
import { fortunesOf, givenBackOf, lengthOf, type Sending, settled } from './settlement.ts'
import { AHEAD_MOST, HELD_AT_FIRST, type Place, Shares } from './shares.ts'
import { WaitingSends } from './waiting-sends.ts'
import { Walk } from './walk.ts'

/** A send takes up to 10 s: a claim that arrives with less than this left of its lease is not begun. */
const LEASE_LEFT_LEAST_MS = 12_000
/** What is claimed ahead is sent as it was claimed: a destination that is changed or disabled is so within this time. */
const WAIT_MOST_MS = 2_000
/** Supervisors kill after ten seconds. */
const FINISH_WITHIN_MS = 8_000
const TRY_AGAIN_MS = 250

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
 * What has ended and is not settled is sent again should this process die: beyond that nothing is sent at once. The fan-out waits
 * before it comes to that: what goes by the store instead costs the store twice as much, just when it cannot keep up.
 */
const ENDED_MOST = 2_048

/** A delivery that is written as claimed, or sent before it is written, for which a place is kept. */
export interface Kept {
  readonly sending: Sending
  readonly place: Place
}

interface Exchanged {
  readonly firsts: readonly First[]
  readonly ended: readonly Ended[]
  readonly givenBack: readonly GivenBack[]
  readonly claim: Claim
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
  readonly #firsts = new FirstSends()
  readonly #waiting = new WaitingSends()
  readonly #walk = new Walk()
  #bytesInFlight = 0
  #endings = 0
  /** The longest of the last claim. */
  #bodyBytes = TYPICAL_BYTES
  #stopping = false
  /** The store's clock, less the monotonic one. */
  #storeOffset: number | undefined
  #gathering: NodeJS.Timeout | undefined
  /** When that is; by the monotonic clock. */
  #settleAt = Number.POSITIVE_INFINITY
  /** Claims that are not used. */
  #givenBack: GivenBack[] = []
  /** Destinations with some waiting that may begin as soon as there are places for anyone. */
  readonly #starved = new Map<string, DestinationId>()
  /** The store could not be reached by the last exchange: what is sent could not be settled. */
  #isFailing = false
  /** While the fan-out pauses. */
  #goOnIfEnough: (() => unknown) | undefined
  /** Called when what has ended should be settled. */
  onEnded: () => void = () => undefined

  constructor(deps: DeliveryDeps) {
    this.#deps = deps
    this.#measure = measureSends(deps.metrics)
    const inFlight = () => this.#shares.inFlight
    deps.metrics.gauge('jeton_deliveries_in_flight', 'Sends under way in this process.', inFlight)
  }

  /** Until one look at every queue has found nothing more that there is room for. */
  async run(): Promise<void> {
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
    if (this.#isFailing || this.#endedCount >= ENDED_MOST) return undefined
    const place = this.#shares.reserve(sending.destination)
    if (!place) return undefined
    this.#bytesInFlight += lengthOf(sending)
    return { sending, place }
  }

  /** They are written, by a store that was asked for the time at `at` and said `now`. */
  beginKept(kept: readonly Kept[], { now, at }: { now: number; at: number }): void {
    const { clock } = this.#deps
    this.#storeOffset = now - at
    if (clock.monotonic() - at > LEASE_MS - LEASE_LEFT_LEAST_MS) {
      this.letGo(kept)
      return
    }
    for (const { sending, place } of kept) {
      if (sending.first) this.#firsts.begin(sending.first, clock.monotonic())
      if (place === 'in flight') void this.#send(sending)
      else this.#wait(sending, at)
    }
    if (!this.#firsts.isEmpty) this.#gather(FIRST_MOST_MS)
    // Those whose place they waited for may have ended meanwhile.
    for (const { sending, place } of kept) if (place === 'waiting') this.#beginWaiting(sending.destination)
  }

  /** They are not: what was written nevertheless falls due when its lease ends. */
  letGo(kept: readonly Kept[]): void {
    for (const { sending, place } of kept) {
      this.#bytesInFlight -= lengthOf(sending)
      this.#shares.letGo(sending.destination, place)
    }
    for (const { sending } of kept) this.#beginWaiting(sending.destination)
    this.#beginStarved()
  }

  /** Whether what is left of it in the store is soon gone. */
  isQuick(destination: DestinationId): boolean {
    return this.#shares.isQuick(destination)
  }

  /** What has ended cannot be written at present. */
  get isFailing(): boolean {
    return this.#isFailing
  }

  /** How many sends have ended. */
  get endings(): number {
    return this.#endings
  }

  /** Whether something that is due may be left in the store, for want of room, or since nobody has looked. Who stops waits for nothing. */
  get isBehind(): boolean {
    return !this.#stopping && this.#walk.mayBeLeft
  }

  /**
   * So many more may wait here. Where that could never be, those count that may begin as well: else not, since whoever has some that
   * wait has used its own places, and nobody knows to whom the next ones go.
   */
  hasRoomFor(deliveries: number): boolean {
    const begun = deliveries > AHEAD_MOST ? this.#shares.mayGrowBy : 0
    return this.#stopping || Math.min(this.room + begun, this.#unsettledRoom) >= deliveries
  }

  /** For so long, or until that is so: whenever a send has ended, or was settled, it is asked. */
  pause(ms: number, isEnough: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const goOn = () => {
        clearTimeout(timer)
        this.#goOnIfEnough = undefined
        resolve()
      }
      const timer = setTimeout(goOn, ms)
      this.#goOnIfEnough = () => isEnough() && goOn()
    })
  }

  /** Whether so many more may end before the store knows of any. */
  maySettle(deliveries: number): boolean {
    return this.#unsettledRoom >= deliveries
  }

  /** How many more may wait here, of one destination or of many. At the start only as fast as it turns out what receivers take. */
  get room(): number {
    const ahead = Math.min(AHEAD_MOST, HELD_AT_FIRST + 2 * this.#endings)
    return Math.max(0, Math.min(ahead - this.#shares.waiting, this.#unsettledRoom))
  }

  /** So many more could end before the store knows of any. */
  get #unsettledRoom(): number {
    return ENDED_MOST - this.#endedCount - this.#shares.held
  }

  stopClaiming(): void {
    this.#stopping = true
    this.#goOnIfEnough?.()
  }

  #room(): number {
    if (this.#stopping || !this.#deps.maySend) return 0
    const bytesLeft = BYTES_MOST - this.#bytesInFlight
    return Math.max(0, Math.min(this.#shares.free, CLAIMED_MOST, Math.ceil(bytesLeft / this.#bodyBytes)))
  }

  /** Gives back what waits, waits for what is in flight, and settles it. What takes too long falls due when its lease ends. */
  async finish(): Promise<void> {
    const { clock } = this.#deps
    const end = clock.monotonic() + FINISH_WITHIN_MS
    this.#stopping = true
    this.#giveBackLate(Number.POSITIVE_INFINITY)
    let failure: unknown
    while (this.#isOwing && clock.monotonic() < end) {
      const alarm = new AbortController()
      this.onEnded = () => alarm.abort()
      if (this.#endedCount + this.#givenBack.length === 0 && this.#firsts.isEmpty)
        await clock.sleep(end - clock.monotonic(), alarm.signal)
      try {
        await this.#exchange(0)
      } catch (error) {
        failure = error
        await clock.sleep(TRY_AGAIN_MS)
      }
    }
    if (this.#isOwing && failure) throw failure
  }

  get #isOwing(): boolean {
    return this.#shares.inFlight + this.#endedCount + this.#givenBack.length > 0 || !this.#firsts.isEmpty
  }

  /** Sends that have ended, and of which the store knows nothing. */
  get #endedCount(): number {
    return this.#ended.length + this.#firsts.endedCount
  }

  /** Whether a further round may find more. */
  async #exchange(most: number): Promise<boolean> {
    const { clock, random } = this.#deps
    this.#giveBackLate(clock.monotonic())
    const firsts = this.#firsts.takeDue(this.#stopping ? Number.POSITIVE_INFINITY : clock.monotonic())
    if (!this.#firsts.isEmpty) this.#gather(Math.max(1, this.#firsts.nextFrom - clock.monotonic()))
    const [ended, givenBack] = [this.#ended, this.#givenBack]
    if (most + firsts.length + ended.length + givenBack.length === 0) return false
    this.#ended = []
    this.#givenBack = []
    const rooms = most > 0 ? this.#shares.rooms() : []
    const claim: Claim = {
      id: newId(random, ''),
      most,
      share: this.#shares.share,
      rooms,
      after: this.#walk.after,
    }
    const askedAt = clock.monotonic()
    if (most > 0) this.#walk.asks(askedAt)
    this.#shares.beingClaimed = most
    const all = [...endedIn(firsts), ...ended]
    const out = await this.#exchangeWithStore({ firsts, ended, givenBack, claim }, all).catch((error) => {
      // Kept for the next round: the sends have happened, whether the store knows or not.
      this.#firsts.putBack(firsts)
      this.#ended = [...ended, ...this.#ended]
      this.#givenBack = [...givenBack, ...this.#givenBack]
      this.#isFailing = true
      this.#walk.look()
      this.#endClaim()
      throw error
    })
    this.#isFailing = false
    this.#storeOffset = out.now - clock.monotonic()
    // An answer that took so long that someone else may soon hold the claims: they fall due again by themselves.
    if (clock.monotonic() - askedAt <= LEASE_MS - LEASE_LEFT_LEAST_MS) this.#begin(out, claim.id)
    this.#endClaim()
    const goesOn = most > 0 && this.#walk.saw(claim, out)
    this.#goOnIfEnough?.()
    await this.#disable(all)
    return goesOn && this.#room() > 0
  }

  /** The places that it might have taken are there for others. */
  #endClaim(): void {
    this.#shares.beingClaimed = 0
    this.#beginStarved()
  }

  #exchangeWithStore(
    { firsts, ended, givenBack, claim }: Exchanged,
    all: readonly Ended[],
  ): Promise<ExchangeOutput> {
    const { db, clock } = this.#deps
    return exchange(db, {
      now: clock.now(),
      firsts: firsts.map((first) => first.written()),
      settlements: [
        ...firsts.flatMap((first) => first.settlements()),
        ...ended.map(({ settlement }) => settlement),
      ],
      givenBack,
      ...fortunesOf(all),
      claim,
    })
  }

  #begin({ deliveries, events, destinations }: ExchangeOutput, claimId: string): void {
    const { clock } = this.#deps
    const eventOf = new Map(events.map((event) => [event.id, event]))
    const destinationOf = new Map(destinations.map((row) => [row.id, sameDestination(row)]))
    let longest = 0
    for (const delivery of deliveries) {
      const event = eventOf.get(delivery.event_id)
      const destination = destinationOf.get(delivery.destination_id)
      // Removed between the claim and the reading: there is nothing left to send.
      if (!event || !destination) continue
      const sending = {
        ...{ claimId, event, destination, first: undefined },
        delivery: { ...delivery, ...whole(delivery, event) },
      }
      const length = lengthOf(sending)
      longest = Math.max(longest, length)
      this.#bytesInFlight += length
      this.#shares.wait(destination, 1)
      this.#wait(sending, clock.monotonic())
      this.#beginWaiting(destination, true)
    }
    if (longest > 0) this.#bodyBytes = longest
  }

  /** Since its destination was read. */
  #wait(sending: Sending, since: number): void {
    this.#waiting.add(sending, since + WAIT_MOST_MS)
  }

  /** Where it has a place of its own, by a claim or by what has ended, that is used; any more there must be for anyone. */
  #beginWaiting(destination: DestinationId, hasPlace = false): void {
    const now = this.#deps.clock.monotonic()
    while (this.#waiting.isLate(destination.id, now)) this.#giveBack(this.#waiting.take(destination.id)!)
    let isOwn = hasPlace
    while (this.#waiting.has(destination.id) && this.#shares.mayBegin(destination)) {
      if (!isOwn && !this.#shares.mayGrow) {
        this.#starved.set(destination.id, destination)
        return
      }
      isOwn = false
      this.#shares.wait(destination, -1)
      this.#shares.begin(destination)
      void this.#send(this.#waiting.take(destination.id)!)
    }
    this.#starved.delete(destination.id)
  }

  #beginStarved(): void {
    for (const destination of this.#starved.values()) {
      if (!this.#shares.mayGrow) return
      // Others first, the next time.
      this.#starved.delete(destination.id)
      this.#beginWaiting(destination)
    }
  }

  /** What has waited until then for nothing is due again, for whoever has room. */
  #giveBackLate(now: number): void {
    for (const sending of this.#waiting.takeLate(now)) this.#giveBack(sending)
  }

  #giveBack(sending: Sending): void {
    this.#shares.giveUp(sending.destination)
    this.#bytesInFlight -= lengthOf(sending)
    // What is given back must be there.
    sending.first?.hurry()
    this.#givenBack.push(givenBackOf(sending, this.#storeNow()))
  }

  #storeNow = (): number => Math.round(this.#storeOffset! + this.#deps.clock.monotonic())

  async #send(sending: Sending): Promise<void> {
    const { delivery, event, destination, first } = sending
    first?.beginSend(this.#deps.clock.monotonic())
    const startedAt = this.#storeNow()
    let result: SendResult
    try {
      result = await this.#deps.send({
        deliveryId: delivery.id,
        kind: event.kind,
        attempt: delivery.attempts_made + 1,
        body: () => payloadBytes(delivery, event.data),
        destination,
        nowMs: startedAt,
      })
    } catch (error) {
      result = this.#unsent(delivery.id, error)
    }
    const now = this.#storeNow()
    this.#bytesInFlight -= lengthOf(sending)
    this.#measure(sending, result, now)
    this.#end(settled(this.#deps, sending, { result, startedAt, now }), first)
  }

  /** A bug of ours costs one attempt of one delivery an hour, and not the process. */
  #unsent(delivery: string, err: unknown): SendResult {
    this.#deps.log.error({ err, delivery }, 'bug: not sent')
    const error = 'not sent: an error inside Jeton, which is in its log'
    return { durationMs: 0, status: null, responseBody: null, error, outcome: 'unsent', retryAfterMs: null }
  }

  /** Its place is free at once, so that the exchange which settles it can claim the next. */
  #end(ended: Ended, first: First | undefined): void {
    this.#endings++
    this.#shares.end(ended.destination, ended)
    this.#beginWaiting(ended.destination, true)
    this.#beginStarved()
    if (!this.#firsts.end(first, ended)) this.#ended.push(ended)
    const settleable = this.#ended.length + this.#firsts.overCount
    if (settleable >= this.#shares.held * GATHER_PART) this.#settleNow()
    else this.#gather(GATHER_MS)
    this.#goOnIfEnough?.()
  }

  /** At the latest after so long. */
  #gather(forMs: number): void {
    const at = this.#deps.clock.monotonic() + forMs
    if (at >= this.#settleAt) return
    clearTimeout(this.#gathering)
    this.#settleAt = at
    this.#gathering = setTimeout(this.#settleNow, forMs)
  }

  readonly #settleNow = (): void => {
    clearTimeout(this.#gathering)
    this.#settleAt = Number.POSITIVE_INFINITY
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

function endedIn(firsts: readonly First[]): Ended[] {
  const all: Ended[] = []
  for (const first of firsts) for (const ended of first.ended) all.push(ended)
  return all
}
