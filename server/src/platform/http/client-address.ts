import { normalizeIp } from '../addresses.ts'
import { ownText } from '../own-text.ts'

export interface ClientAddress {
  /** The address that allowlists and the throttle use. Null is unknown: no allowlist with an entry admits it. */
  readonly plain: string | null
  /** The peer of the socket. */
  readonly socket: string
  /** `X-Forwarded-For` as it came, for the refusal record only. */
  readonly forwarded: string | null
}

type IsTrusted = (ip: string) => boolean

/**
 * Returns the peer of the socket unless that is a trusted proxy. Then it is the right-most entry of `X-Forwarded-For` that
 * is no trusted proxy: the client may have written everything to the left of it. If every entry is a trusted proxy, the
 * request began at the left-most one.
 */
function resolve(socket: string | null, forwarded: string | null, isTrusted: IsTrusted): string | null {
  if (socket === null || forwarded === null || !isTrusted(socket)) return socket
  const entries = forwarded.split(',')
  let ip: string | null = socket
  for (let i = entries.length - 1; i >= 0; i--) {
    // A copy: the throttle and the refusal record keep addresses, and a substring would keep the whole header in memory.
    ip = normalizeIp(ownText(entries[i]!.trim()))
    if (ip === null || !isTrusted(ip)) return ip
  }
  return ip
}

export function clientAddress(
  socketAddress: string | undefined,
  forwardedFor: string | string[] | undefined,
  isTrusted: IsTrusted,
): ClientAddress {
  const socket = normalizeIp(socketAddress ?? '')
  const forwarded = Array.isArray(forwardedFor) ? forwardedFor.join(',') : (forwardedFor ?? null)
  return { plain: resolve(socket, forwarded, isTrusted), socket: socket ?? 'unknown', forwarded }
}
