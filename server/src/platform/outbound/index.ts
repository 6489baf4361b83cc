/** Outbound: sends HTTP requests to allowed addresses only. Does not depend on features. */
export { type AddressClass, addressClass, CLASS_WORDS } from './address-class.ts'
export { createTargetCheck, type TargetCheck } from './check-target.ts'
export { createEgressPolicy, type EgressPolicy } from './egress-policy.ts'
export type { ResolveHost } from './resolve.ts'
export { MAX_BODY_BYTES } from './response-body.ts'
export type { OutboundRequest, SendOutcome } from './send-handler.ts'
export { createSender, type Sender } from './sender.ts'
export { checkTargetUrl, TARGET_URL } from './target-url.ts'
