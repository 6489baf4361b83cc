import { Problem, type Refusal } from '../../contract/problem.ts'
import { addressGroup } from '../addresses.ts'
import type { Clock } from '../clock.ts'
import { copyText } from '../copy-text.ts'
import { FixedWindows } from './fixed-windows.ts'

/** Per address and credential id: enough for a person who mistypes or a misconfigured client, too few to guess. */
const MAX_PER_CREDENTIAL = 20
/** Per address, across credential ids: an attacker could invent a new id each time. */
const MAX_PER_ADDRESS = 200
/** Bounds the memory. */
const MAX_WINDOWS = 20_000

/**
 * Counts wrong credentials in fixed windows of a minute. Credentials are verified first, and a correct one is always
 * accepted: the throttle only decides which error a wrong one gets.
 */
export class LoginThrottle {
  readonly #windows = new FixedWindows(MAX_WINDOWS)
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts a failure and returns the error to respond with: `wrong`, or 429 above the limit. */
  recordFailure(ip: string | null, credentialId: string, wrong: Problem): Problem {
    const group = addressGroup(ip)
    const now = this.#clock.monotonic()
    // Counts the address first: above its limit further ids take no memory, so that nobody can push out other entries.
    const waitMs =
      this.#windows.count(group, MAX_PER_ADDRESS, now) ||
      this.#windows.count(`${group} ${copyText(credentialId.slice(0, 80))}`, MAX_PER_CREDENTIAL, now)
    return waitMs > 0 ? tooMany(Math.ceil(waitMs / 1000), wrong.refusal) : wrong
  }
}

const tooMany = (seconds: number, refusal: Refusal | undefined): Problem =>
  new Problem('too_many_attempts', {
    message: 'Too many wrong credentials from this address.',
    details: `Retry in ${seconds} s. A correct credential is still accepted.`,
    headers: { 'retry-after': String(seconds) },
    refusal,
  })
