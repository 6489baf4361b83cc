import { plainAddress } from '../addresses.ts'
import { ownText } from '../own-text.ts'

export interface CallerAddress {
  /** The one that whitelists and throttles judge by; null means "unknown", which no non-empty whitelist admits. */
  readonly plain: string | null
  /** As seen on the socket. */
  readonly socket: string
  /** `X-Forwarded-For` as it came, for the record only. */
  readonly forwarded: string | null
}

type IsTrusted = (plain: string) => boolean

/**
 * The caller's address is the socket's, unless the socket's peer is a trusted proxy: then it is the right-most entry of
 * `X-Forwarded-For` that is not a trusted proxy itself. What stands to the left of it was written by the caller and is
 * never looked at. If every entry is a trusted proxy, the left-most one is where the request began.
 */
function decide(socket: string | null, forwarded: string | null, isTrusted: IsTrusted): string | null {
  if (socket === null || forwarded === null || !isTrusted(socket)) return socket
  const entries = forwarded.split(',')
  let address: string | null = socket
  for (let i = entries.length - 1; i >= 0; i--) {
    // A copy: attempts and refusals are kept by address, and would keep the header with it.
    address = plainAddress(ownText(entries[i]!.trim()))
    if (address === null || !isTrusted(address)) return address
  }
  return address
}

const SOCKETS_KEPT = 1_000
const socketAddresses = new Map<string, string | null>()

/** Peers come again and again: their address is read once. */
function plainSocketAddress(text: string): string | null {
  const known = socketAddresses.get(text)
  if (known !== undefined) return known
  if (socketAddresses.size >= SOCKETS_KEPT) socketAddresses.clear()
  const plain = plainAddress(text)
  socketAddresses.set(text, plain)
  return plain
}

export function callerAddress(
  socketAddress: string | undefined,
  forwardedFor: string | string[] | undefined,
  isTrusted: IsTrusted,
): CallerAddress {
  const socket = plainSocketAddress(socketAddress ?? '')
  const forwarded = Array.isArray(forwardedFor) ? forwardedFor.join(',') : (forwardedFor ?? null)
  return { plain: decide(socket, forwarded, isTrusted), socket: socket ?? 'unknown', forwarded }
}
