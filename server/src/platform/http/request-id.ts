import { randomBytes } from '../secrets.ts'

/** `v-` and 18 hex digits, as clients of Voucherify know it. Never taken from the request: a client could forge a record. */
export const newRequestId = (): string => `v-${randomBytes(9).toString('hex')}`
