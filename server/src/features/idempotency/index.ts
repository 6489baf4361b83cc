/** Idempotency: repeating a request is safe. It remembers answers and never knows what they mean. */
export { doOnce, forgetOldKeys } from './do-once.ts'
export { deleteIdempotencyOfProject } from './idempotency.store.ts'
