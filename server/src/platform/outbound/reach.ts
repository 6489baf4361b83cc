import { addressMatcher, plainAddress } from '../addresses.ts'
import { type AddressClass, addressClass } from './address-class.ts'

/** What may be reached: the public internet, and what JETON_WEBHOOK_ALLOW lists all the same. */
export interface Reach {
  /** Whether anything beyond the public internet is allowed. */
  readonly allowsMore: boolean
  /** Listed by name: plain http goes only there. */
  isListed(address: string): boolean
  /** `allowed`, or the class that stands in the way. */
  judge(address: string): 'allowed' | Exclude<AddressClass, 'public'>
}

export function createReach(allow: readonly string[]): Reach {
  const listed = addressMatcher(allow)
  const isListed = (address: string): boolean => listed(plainAddress(address) ?? '')
  return {
    allowsMore: allow.length > 0,
    isListed,
    judge(address) {
      if (isListed(address)) return 'allowed'
      const found = addressClass(address)
      return found === 'public' ? 'allowed' : found
    },
  }
}
