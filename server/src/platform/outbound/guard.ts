import { isIP } from 'node:net'
import { normalizeIp } from '../addresses.ts'
import { CLASS_WORDS } from './address-class.ts'
import type { EgressPolicy } from './egress-policy.ts'

/** An address that must not be reached. Retrying cannot help, so callers must be able to recognise it. */
export class BlockedAddress extends Error {
  override readonly name = 'BlockedAddress'
}

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** Applies the egress policy to one protocol. Plain http is allowed only for the allowlist, because others could read it. */
export interface Guard {
  /** Reason why the address is blocked; null if it is allowed. */
  reasonToBlock(host: string, address: string): string | null
  /** Returns the allowed addresses. Throws `BlockedAddress` if there are addresses and all are blocked. */
  filter(host: string, resolved: readonly ResolvedAddress[]): ResolvedAddress[]
}

/**
 * `10.0.0.4 is` if the host is that address itself. The address of a name is left out: operators of one project would
 * learn the addresses of an internal network.
 */
const subject = (host: string, address: string): string =>
  isIP(host) === 0 ? `${host} resolves to an address that is` : `${normalizeIp(address) ?? address} is`

export function createGuard(policy: EgressPolicy, protocol: string): Guard {
  function reasonToBlock(host: string, address: string): string | null {
    const verdict = policy.check(address)
    if (verdict !== 'allowed') return `${subject(host, address)} ${CLASS_WORDS[verdict]}`
    if (protocol === 'https:' || policy.isAllowlisted(address)) return null
    return `${host} is reached by plain http, which is allowed only for addresses in JETON_WEBHOOK_ALLOW`
  }

  return {
    reasonToBlock,
    filter(host, resolved) {
      const allowed = resolved.filter(({ address }) => reasonToBlock(host, address) === null)
      if (allowed.length > 0 || resolved.length === 0) return allowed
      throw new BlockedAddress(reasonToBlock(host, resolved[0]!.address)!)
    },
  }
}
