import { isIP } from 'node:net'
import { plainAddress } from '../addresses.ts'
import { CLASS_WORDS } from './address-class.ts'
import type { Reach } from './reach.ts'

/** An address that must not be reached. Trying again changes nothing, so whoever sends must be able to tell it apart. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

export interface FoundAddress {
  readonly address: string
  readonly family: number
}

/** The guard as connections meet it. Plain http goes only to what is listed, since it can be read on the way. */
export interface Guard {
  /** Why nothing may be sent to this address, in words; null where it may be. */
  objection(host: string, address: string): string | null
  /** Those that may be reached. Throws where there is none. */
  filter(host: string, found: readonly FoundAddress[]): FoundAddress[]
}

/** `10.0.0.4 is` where the host is that address itself, `hooks.example resolves to 10.0.0.4,` where it is a name. */
const subject = (host: string, address: string): string =>
  isIP(host) === 0 ? `${host} resolves to ${address},` : `${plainAddress(address) ?? address} is`

export function createGuard(reach: Reach, protocol: string): Guard {
  function objection(host: string, address: string): string | null {
    const verdict = reach.judge(address)
    if (verdict !== 'allowed') return `${subject(host, address)} ${CLASS_WORDS[verdict]}`
    if (protocol === 'https:' || reach.isListed(address)) return null
    return `${host} is reached by plain http, which goes only to what JETON_WEBHOOK_ALLOW lists`
  }

  return {
    objection,
    filter(host, found) {
      const allowed = found.filter(({ address }) => objection(host, address) === null)
      if (allowed.length > 0 || found.length === 0) return allowed
      throw new Unreachable(objection(host, found[0]!.address)!)
    },
  }
}
