import { isIP } from 'node:net'
import { addressMatcher, normalizeIp } from '../addresses.ts'

/** Why an address is not one of the public internet. */
export type AddressClass =
  | 'public'
  | 'loopback'
  | 'private'
  | 'link_local'
  | 'carrier_nat'
  | 'multicast'
  | 'unspecified'
  | 'translated'
  | 'documentation'
  | 'reserved'

/**
 * The special-purpose registries of IANA (RFC 6890 and later). The first match counts. IPv4-mapped addresses have already
 * been converted to IPv4. `translated` are IPv6 forms that contain an IPv4 address, and so could reach internal networks:
 * IPv4-compatible, NAT64, 6to4 and Teredo.
 */
const RANGES: readonly (readonly [Exclude<AddressClass, 'public'>, readonly string[]])[] = [
  ['loopback', ['127.0.0.0/8', '::1']],
  ['unspecified', ['0.0.0.0/8', '::']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10']],
  ['link_local', ['169.254.0.0/16', 'fe80::/10']],
  ['carrier_nat', ['100.64.0.0/10']],
  ['multicast', ['224.0.0.0/4', 'ff00::/8']],
  [
    'translated',
    [
      '::/96',
      '::ffff:0:0:0/96',
      '64:ff9b::/96',
      '64:ff9b:1::/48',
      '2002::/16',
      '2001::/32',
      '192.88.99.0/24',
    ],
  ],
  ['documentation', ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20']],
  ['reserved', ['192.0.0.0/24', '198.18.0.0/15', '240.0.0.0/4', '2001::/23']],
]

const MATCHERS = RANGES.map(([name, ranges]) => ({ name, matches: addressMatcher(ranges) }))
/** The internet uses IPv6 addresses in this range only. Everything else that is not listed above is reserved. */
const isGlobalUnicast6 = addressMatcher(['2000::/3'])

/** Class of an address in any spelling. Text that is not an address is `reserved`, so that it is never reached. */
export function addressClass(address: string): AddressClass {
  const plain = normalizeIp(address)
  if (plain === null) return 'reserved'
  const special = MATCHERS.find(({ matches }) => matches(plain))
  if (special) return special.name
  return isIP(plain) === 4 || isGlobalUnicast6(plain) ? 'public' : 'reserved'
}

export const CLASS_WORDS: Readonly<Record<AddressClass, string>> = {
  public: 'a public address',
  loopback: 'on this machine',
  private: 'a private address',
  link_local: 'a link-local address, where clouds serve credentials',
  carrier_nat: "an address inside a carrier's network",
  multicast: 'a multicast address',
  unspecified: 'the unspecified address, which means this machine',
  translated: 'an IPv6 address that contains an IPv4 address',
  documentation: 'an address for documentation only',
  reserved: 'a reserved address',
}
