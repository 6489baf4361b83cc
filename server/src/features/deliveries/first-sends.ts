import type { DeliveryRow } from './delivery.ts'
import type { Ended } from './ended.ts'
import type { Settlement, WrittenFirst } from './exchange.ts'
import { shortened } from './payload.ts'

/**
 * An event is written once all its deliveries have ended, or so long after the last of them was begun: a list that is asked must
 * not miss it. Those that wait for a place are waited for as well, since what is written as on its way is written twice: where
 * sends take a while, that would be all of it, and it would take twice as long.
 */
export const FIRST_MOST_MS = 250
const WAITING_MOST_MS = 1_000
const AT_ONCE = Number.NEGATIVE_INFINITY

/** The event that waits, and which claim holds it. */
export type HeldEvent = Pick<WrittenFirst, 'project_id' | 'event_id' | 'created_at' | 'claim_id'>

/**
 * The deliveries of one event, sent before they are written: written once, with how they ended, they cost half. Until then
 * the event waits, held by a claim; should this process die, it is fanned out anew, to the same ids and bytes.
 */
export class First {
  readonly #held: HeldEvent
  readonly #deliveries: readonly DeliveryRow[]
  readonly #ended = new Map<string, Ended>()
  /** Until then it may wait for what is under way; by the monotonic clock. */
  writtenFrom = Number.POSITIVE_INFINITY
  #latest = Number.POSITIVE_INFINITY
  /** What ends is written with it; afterwards it is settled like all else. */
  isOpen = true

  constructor(held: HeldEvent, deliveries: readonly DeliveryRow[]) {
    this.#held = held
    this.#deliveries = deliveries
  }

  get isBegun(): boolean {
    return this.#latest !== Number.POSITIVE_INFINITY
  }

  begin(now: number): void {
    this.#latest = now + WAITING_MOST_MS
    this.writtenFrom = now + FIRST_MOST_MS
  }

  /** One of its deliveries is being sent. */
  beginSend(now: number): void {
    if (this.writtenFrom !== AT_ONCE) this.writtenFrom = Math.min(now + FIRST_MOST_MS, this.#latest)
  }

  /** By the next exchange, whatever is under way. */
  hurry(): void {
    this.writtenFrom = AT_ONCE
  }

  get ended(): Iterable<Ended> {
    return this.#ended.values()
  }

  get endedCount(): number {
    return this.#ended.size
  }

  end(ended: Ended): void {
    this.#ended.set(ended.settlement.id, ended)
  }

  get isOver(): boolean {
    return this.#ended.size === this.#deliveries.length
  }

  isDue(now: number): boolean {
    return this.isOver || now >= this.writtenFrom
  }

  /** As it is to be written now. */
  written(): WrittenFirst {
    const deliveries = this.#deliveries.map((row) => {
      const ended = this.#ended.get(row.id)
      return ended && isDelivered(ended) ? delivered(row, ended) : row
    })
    return { ...this.#held, deliveries }
  }

  /** What is written as on its way, and has ended: settled like all else, by the same exchange. */
  settlements(): Settlement[] {
    const settlements: Settlement[] = []
    for (const ended of this.#ended.values()) if (!isDelivered(ended)) settlements.push(ended.settlement)
    return settlements
  }
}

const isDelivered = ({ settlement }: Ended): boolean => settlement.status === 'delivered'

/** Whole and short. What is tried again is not: with every further attempt all that was ever answered would be written anew. */
function delivered(row: DeliveryRow, { settlement, destination }: Ended): DeliveryRow {
  const { status, slot, first_attempt_at, next_attempt_at, attempt } = settlement
  return {
    ...row,
    ...{ status, slot, first_attempt_at, next_attempt_at, claim_id: null },
    ...shortened(destination),
    attempts_made: attempt.number,
    first_attempt: JSON.stringify(attempt),
  }
}

/**
 * Those that are not written yet. In a list: a set that changes all the time leaves one table after the other behind, each of which
 * leads to the next, and with one of them that has become old the collector keeps what all of them ever held.
 */
export class FirstSends {
  #unwritten: First[] = []
  /** Sends that have ended and are not written. */
  endedCount = 0
  /** Of these, sends of events that are over. */
  overCount = 0

  get isEmpty(): boolean {
    return this.#unwritten.length === 0
  }

  /** When the next is to be written, whatever is under way. */
  get nextFrom(): number {
    let from = Number.POSITIVE_INFINITY
    for (const { writtenFrom } of this.#unwritten) from = Math.min(from, writtenFrom)
    return from
  }

  begin(first: First, now: number): void {
    if (first.isBegun) return
    first.begin(now)
    this.#unwritten.push(first)
  }

  /** Whether it is written with its event, and need not be settled. */
  end(first: First | undefined, ended: Ended): boolean {
    if (!first?.isOpen) return false
    first.end(ended)
    this.endedCount++
    if (first.isOver) this.overCount += first.endedCount
    return true
  }

  /** Those that are to be written now. */
  takeDue(now: number): First[] {
    const due: First[] = []
    const others: First[] = []
    for (const first of this.#unwritten) (first.isDue(now) ? due : others).push(first)
    for (const first of due) {
      first.isOpen = false
      this.#count(first, -1)
    }
    this.#unwritten = others
    return due
  }

  /** They were not written after all, as far as is known: the next exchange tries again. */
  putBack(firsts: readonly First[]): void {
    for (const first of firsts) {
      first.hurry()
      this.#unwritten.push(first)
      this.#count(first, 1)
    }
  }

  #count(first: First, by: 1 | -1): void {
    const ended = by * first.endedCount
    this.endedCount += ended
    if (first.isOver) this.overCount += ended
  }
}
