/** Outbound: where Jeton may send to, where never, and the sending itself. It knows no feature. */
export { type AddressClass, addressClass, CLASS_WORDS } from './address-class.ts'
export { BODY_MAX_BYTES } from './answer-body.ts'
export type { Answer, OutboundRequest } from './exchange.ts'
export type { FindAddresses } from './find-addresses.ts'
export { createReach, type Reach } from './reach.ts'
export { createSender, type Sender } from './sender.ts'
export { checkTargetUrl, TARGET_URL } from './target-url.ts'
