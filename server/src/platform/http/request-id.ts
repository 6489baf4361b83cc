import { randomBytes } from '../secrets.ts'

const DIGITS = 18
const DRAWN_AT_ONCE = 1000
let drawn = ''
let used = 0

/**
 * `v-` and 18 hex digits, as the platform's clients know it. Never taken from the request: a caller could forge a record.
 * Digits are drawn for many at once, since every request needs one.
 */
export function newRequestId(): string {
  if (used === drawn.length) {
    drawn = randomBytes((DIGITS / 2) * DRAWN_AT_ONCE).toString('hex')
    used = 0
  }
  used += DIGITS
  return `v-${drawn.slice(used - DIGITS, used)}`
}

export const REQUEST_ID_PATTERN = '^v-[0-9a-f]{18}$'
