import { addressMatcher, normalizeIp } from '../addresses.ts'
import { type AddressClass, addressClass } from './address-class.ts'

/** Addresses that may be reached: the public internet, plus the ranges of JETON_WEBHOOK_ALLOW. */
export interface EgressPolicy {
  /** True if anything beyond the public internet is allowed. */
  readonly hasAllowlist: boolean
  /** True if a range of the allowlist contains the address. Plain http is allowed only there. */
  isAllowlisted(address: string): boolean
  /** `allowed`, or the class because of which the address is blocked. */
  check(address: string): 'allowed' | Exclude<AddressClass, 'public'>
}

export function createEgressPolicy(allow: readonly string[]): EgressPolicy {
  const matches = addressMatcher(allow)
  const isAllowlisted = (address: string): boolean => matches(normalizeIp(address) ?? '')
  return {
    hasAllowlist: allow.length > 0,
    isAllowlisted,
    check(address) {
      if (isAllowlisted(address)) return 'allowed'
      const found = addressClass(address)
      return found === 'public' ? 'allowed' : found
    },
  }
}
