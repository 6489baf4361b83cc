import { randomBytes } from '../secrets.ts'

/** `v-` and 18 hex digits, as the platform's clients know it. Never taken from the request: a caller could forge a record. */
export const newRequestId = (): string => `v-${randomBytes(9).toString('hex')}`

export const REQUEST_ID_PATTERN = '^v-[0-9a-f]{18}$'
