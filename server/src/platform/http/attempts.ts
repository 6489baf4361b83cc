import { isIP } from 'node:net'
import { Problem, type Refusal } from '../../contract/problem.ts'
import type { Clock } from '../clock.ts'
import { ownText } from '../own-text.ts'

/** Per address and credential id: room for a typing human or a misconfigured client, none for a guesser. */
const PER_CREDENTIAL = 20
/** Per address, whatever the credential ids: a guesser could make up a new one each time. */
const PER_ADDRESS = 200
const WINDOW_MS = 60_000
/** Bounds the memory; the oldest windows go first, and they would have ended soonest anyway. */
const WINDOWS_KEPT = 20_000

/** A single host owns a whole /64, so IPv6 callers are counted by theirs. */
export function addressGroup(plain: string | null): string {
  if (plain === null || isIP(plain) !== 6) return plain ?? 'unknown'
  const [head = '', tail = ''] = plain.split('::')
  const heads = head === '' ? [] : head.split(':')
  const tails = tail === '' ? [] : tail.split(':')
  const zeros = plain.includes('::') ? new Array(8 - heads.length - tails.length).fill('0') : []
  return `${[...heads, ...zeros, ...tails].slice(0, 4).join(':')}::/64`
}

/**
 * Counts wrong credentials in fixed windows of a minute. The credential is verified first and a right one is always
 * served: this only decides which answer a wrong one gets.
 */
export class WrongAttempts {
  readonly #windows = new Map<string, { ends: number; count: number }>()
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts one wrong attempt and returns the problem to answer with: `wrong`, or 429 once there were too many. */
  refuse(address: string | null, credentialId: string, wrong: Problem): Problem {
    const group = addressGroup(address)
    const now = this.#clock.monotonic()
    // The address first: once it has too many, its further ids take no memory, or it could push itself and others out.
    const waitMs =
      this.#count(group, PER_ADDRESS, now) ||
      this.#count(`${group} ${ownText(credentialId.slice(0, 80))}`, PER_CREDENTIAL, now)
    return waitMs > 0 ? tooMany(Math.ceil(waitMs / 1000), wrong.refusal) : wrong
  }

  /** Milliseconds to wait, or 0 while within the limit. */
  #count(key: string, limit: number, now: number): number {
    const window = this.#windows.get(key)
    if (window && window.ends > now) {
      window.count++
      return window.count > limit ? window.ends - now : 0
    }
    this.#windows.delete(key)
    if (this.#windows.size >= WINDOWS_KEPT) this.#windows.delete(this.#windows.keys().next().value!)
    this.#windows.set(key, { ends: now + WINDOW_MS, count: 1 })
    return 0
  }
}

const tooMany = (seconds: number, refusal: Refusal | undefined): Problem =>
  new Problem('too_many_attempts', {
    message: 'Too many wrong credentials came from this address.',
    details: `Try again in ${seconds} s. A right credential is served even now.`,
    headers: { 'retry-after': String(seconds) },
    refusal,
  })
