import { randomBytes } from '../secrets.ts'

/** `v-` and 18 hex digits, like Voucherify. Never taken from the request, because a client could forge a record. */
export const newRequestId = (): string => `v-${randomBytes(9).toString('hex')}`
