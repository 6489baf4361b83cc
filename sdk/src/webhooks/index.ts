export type { EventMap, JetonEvent } from '../generated/events.ts'
export {
  createDeliveryHandler,
  createReceiver,
  type DeliveryResponse,
  type IncomingDelivery,
  MAX_BODY_BYTES,
  type ReceiverOptions,
} from './receiver.ts'
export { memorySeenStore, type SeenStore } from './seen-store.ts'
export { type VerificationFailure, WebhookVerificationError } from './verification-error.ts'
export { type HeaderSource, isKind, type UnknownEvent, type VerifyInput, verify } from './verify.ts'
