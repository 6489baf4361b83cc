const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`)

/** `::ffff:7f00:1`, as the URL parser writes an IPv4-mapped address, becomes `127.0.0.1`. */
function unmapped(address: string): string {
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address) ?? []
  if (high === undefined || low === undefined) return address
  const [first, last] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return `${first >> 8}.${first & 255}.${last >> 8}.${last & 255}`
}

/**
 * Writes an address as Jeton does: lower case, shortened, without a zone, IPv4 for IPv4-mapped addresses. Undefined for
 * anything else, also for a list, so that a header that a caller has forged is never forwarded.
 */
export function normalizeAddress(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined
  if (IPV4.test(text)) return text
  const bare = text.replace(/%[\w.~-]+$/, '')
  if (!bare.includes(':') || !/^[\da-f:.]+$/i.test(bare)) return undefined
  try {
    return unmapped(new URL(`http://[${bare}]`).hostname.slice(1, -1))
  } catch {
    return undefined
  }
}
