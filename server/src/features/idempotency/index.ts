/** Idempotency keys: make it safe to repeat a request. Stores responses without interpreting them. */

export { deleteIdempotencyOfProject } from './idempotency.store.ts'
export { forgetOldKeys, withIdempotencyKey } from './with-idempotency-key.ts'
