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
/** Supervisors kill after ten seconds. */
const FINISH_WITHIN_MS = 8_000

const FROM_THE_START: DestinationId = { project_id: '', id: '' }

export interface DeliveryDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly random: RandomBytes
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
  #after = FROM_THE_START
  /** The store's clock, less the monotonic one. */
  #storeOffset = 0
  /** Called after each send. */
  onEnded: () => void = () => undefined

  constructor(deps: DeliveryDeps) {
    this.#deps = deps
    this.#measure = measureOf(deps.metrics)
    const inFlight = () => this.#shares.inFlight
    deps.metrics.gauge('jeton_deliveries_in_flight', 'Sends under way in this process.', inFlight)
  }

  /** Until there is nothing to settle and nothing due that there is room for. */
  async run(): Promise<void> {
    let mayFindMore: boolean
    do mayFindMore = await this.#exchange(this.#shares.free)
    while (mayFindMore || this.#ended.length > 0)
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
    const sawAll = out.next === null && this.#after === FROM_THE_START
    this.#after = out.next ?? FROM_THE_START
    await this.#disable(ended)
    return !sawAll && this.#shares.free > 0
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
    for (const delivery of deliveries) {
      const event = eventOf.get(delivery.event_id)!
      const destination = destinationOf.get(delivery.destination_id)!
      this.#shares.begin(destination)
      void this.#send({ claimId, delivery, event, destination })
    }
  }

  #storeNow = (): number => Math.round(this.#storeOffset + this.#deps.clock.monotonic())

  async #send(sending: Sending): Promise<void> {
    const { delivery, event, destination } = sending
    const startedAt = this.#storeNow()
    const result = await this.#deps.send({
      deliveryId: delivery.id,
      kind: event.kind,
      attempt: delivery.attempts_made + 1,
      body: payloadOf(delivery, event.data),
      destination,
      nowMs: startedAt,
    })
    const now = this.#storeNow()
    this.#measure(sending, result, now)
    this.#end(settled(this.#deps, sending, { result, startedAt, now }))
  }

  /** Its place is free at once, so that the exchange which settles it can claim the next. */
  #end(ended: Ended): void {
    this.#shares.end(ended.destination, ended.succeeded)
    this.#ended.push(ended)
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
