/** Idempotency: repeating a request is safe. It stores answers and does not know what they mean. */

export { deleteIdempotencyOfProject } from './idempotency.store.ts'
export { forgetOldKeys, withIdempotencyKey } from './with-idempotency-key.ts'
