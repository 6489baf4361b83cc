/** Outbound: where Jeton may send to, and where never. It knows no feature and sends nothing by itself. */
export { type AddressClass, addressClass, CLASS_WORDS } from './address-class.ts'
export { createReach, type Reach } from './reach.ts'
export { checkTargetUrl } from './target-url.ts'
