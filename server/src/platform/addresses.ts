import { BlockList, isIP } from 'node:net'

/** An address or range such as `10.0.0.4`, `10.0.0.0/8` or `2001:db8::/32`, as in allowlists. */
interface Range {
  readonly address: string
  readonly family: 'ipv4' | 'ipv6'
  readonly bits: number
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** Normalizes an address: an IPv4-mapped address becomes its IPv4 address, and a zone (`%eth0`) is removed. */
export function normalizeIp(text: string): string | null {
  if (isIP(text) === 4) return text
  if (isIP(text) === 0) return null
  const bare = text.split('%', 1)[0]!
  // Avoids the URL parser for the form that dual-stack sockets report, because every request passes here.
  const dotted = MAPPED.exec(bare)
  if (dotted) return dotted[1]!
  const written = new URL(`http://[${bare}]`).hostname.slice(1, -1)
  const mapped = MAPPED.exec(unmapHex(written))
  return mapped ? mapped[1]! : written
}

/** Converts `::ffff:7f00:1`, the spelling of the URL parser, to dotted form. */
function unmapHex(address: string): string {
  const parts = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address)
  if (!parts) return address
  const [high, low] = [Number.parseInt(parts[1]!, 16), Number.parseInt(parts[2]!, 16)]
  return `::ffff:${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
}

const OCTET = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const IPV4 = `${OCTET}(\\.${OCTET}){3}`
const GROUP = '[0-9A-Fa-f]{1,4}'
/** Eight groups, or fewer with one `::` between, after or before them (RFC 4291 §2.2). */
const IPV6 = [
  `(${GROUP}:){7}${GROUP}`,
  `(${GROUP}:){1,7}:`,
  ...[1, 2, 3, 4, 5, 6].map((after) => `(${GROUP}:){1,${7 - after}}(:${GROUP}){1,${after}}`),
  `:((:${GROUP}){1,7}|:)`,
].join('|')

/** Schema pattern for the texts that `parseRange` accepts. */
export const RANGE_PATTERN = [
  `^(${IPV4}(/([12]?\\d|3[0-2]))?`,
  `::[Ff]{4}:${IPV4}(/(9[6-9]|1[01]\\d|12[0-8]))?`,
  `(${IPV6})(/([1-9]?\\d|1[01]\\d|12[0-8]))?)$`,
].join('|')

/** Returns null if the text is neither an address nor a range. */
export function parseRange(text: string): Range | null {
  const [, base, bitsText] = /^([^/%\s]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  if (base === undefined || isIP(base) === 0) return null
  const address = normalizeIp(base)!
  const mapped = isIP(base) === 6 && isIP(address) === 4
  const width = isIP(address) === 4 ? 32 : 128
  let bits = bitsText === undefined ? width : Number(bitsText)
  if (mapped && bitsText !== undefined) bits -= 96
  if (bits < 0 || bits > width) return null
  return { address, family: width === 32 ? 'ipv4' : 'ipv6', bits }
}

/** Returns a function that tests whether a normalized address is in one of the ranges. */
export function addressMatcher(entries: readonly string[]): (plain: string) => boolean {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const entry of entries) {
    const range = parseRange(entry)
    if (!range) throw new Error(`${entry} is not an address or range`)
    // One list per family: a BlockList with ::/0 would also match every IPv4 address.
    lists[range.family].addSubnet(range.address, range.bits, range.family)
  }
  return (plain) => {
    const family = isIP(plain) === 4 ? 'ipv4' : 'ipv6'
    return isIP(plain) !== 0 && lists[family].check(plain, family)
  }
}

/** A single IPv6 host has a whole /64, so IPv6 clients are counted by network. */
export function addressGroup(ip: string | null): string {
  if (ip === null || isIP(ip) !== 6) return ip ?? 'unknown'
  const [head = '', tail = ''] = ip.split('::')
  const heads = head === '' ? [] : head.split(':')
  const tails = tail === '' ? [] : tail.split(':')
  const zeros = ip.includes('::') ? new Array(8 - heads.length - tails.length).fill('0') : []
  return `${[...heads, ...zeros, ...tails].slice(0, 4).join(':')}::/64`
}

const isLoopback = addressMatcher(['127.0.0.0/8', '::1'])

/** True if a listening address can be reached from this machine only. */
export const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' || isLoopback(normalizeIp(host) ?? '')
