import { normalizeIp } from '../addresses.ts'
import { copyText } from '../copy-text.ts'

export interface ClientAddress {
  /** Address for allowlists and the throttle. Null means unknown, which no allowlist with entries accepts. */
  readonly ip: string | null
  /** The peer of the socket. */
  readonly socket: string
  /** `X-Forwarded-For` as received, for the refusal record only. */
  readonly forwarded: string | null
}

type IsTrusted = (ip: string) => boolean

/**
 * Returns the peer of the socket unless that is a trusted proxy. Then it is the right-most entry of `X-Forwarded-For` that
 * is not a trusted proxy: the client may have forged everything before it. If every entry is a trusted proxy, the request
 * started at the left-most one.
 */
function resolve(socket: string | null, forwarded: string | null, isTrusted: IsTrusted): string | null {
  if (socket === null || forwarded === null || !isTrusted(socket)) return socket
  const entries = forwarded.split(',')
  let ip: string | null = socket
  for (let i = entries.length - 1; i >= 0; i--) {
    // A copy: the throttle and the refusal record keep addresses, and a substring would keep the whole header in memory.
    ip = normalizeIp(copyText(entries[i]!.trim()))
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
  return { ip: resolve(socket, forwarded, isTrusted), socket: socket ?? 'unknown', forwarded }
}
