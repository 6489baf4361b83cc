import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { PeerCertificate, TLSSocket } from 'node:tls'
import { buildConnector } from 'undici'
import { type FindAddresses, sharing } from './find-addresses.ts'
import { createGuard, type Guard, Unreachable } from './guard.ts'
import type { Reach } from './reach.ts'

type Options = buildConnector.Options
type Callback = buildConnector.Callback

/** A connection on its way: closed by `socket.destroy()` before it is there, too. */
export type Connect = (options: Options, callback: Callback) => Socket | null

interface Connecting {
  readonly reach: Reach
  readonly find: FindAddresses
  /** Authorities to trust in place of those that Node brings along. */
  readonly ca?: string | undefined
}

/** What was presented, kept for the words about a certificate that was not accepted: by then the socket has let go of it. */
const presented = new WeakMap<Error, PeerCertificate>()
export const certificateOf = (error: Error): PeerCertificate | undefined => presented.get(error)

/**
 * Opens connections only to what may be reached. Three checks: an address as host is judged before anything happens; of
 * a name's addresses only allowed ones are handed on, so that what was judged is what is connected to, whatever the name
 * says a moment later; and the peer is looked at once more before the first byte leaves.
 */
export function createConnect({ reach, find, ca }: Connecting): Connect {
  const shared = sharing(find)
  const guarded = (protocol: string) => {
    const guard = createGuard(reach, protocol)
    const lookup = guardedLookup(guard, shared)
    // No time limit of its own: a send has one over all, and closes the socket at its end.
    // Said here, so that no variable of the environment can switch it off.
    const secure = { rejectUnauthorized: true, ...(ca && { ca }) }
    const connect = buildConnector({ allowH2: false, timeout: 0, lookup, ...secure })
    // It returns the socket, which its declaration leaves out.
    return { guard, connect: connect as (options: Options, callback: Callback) => Socket }
  }
  const ways: Record<string, ReturnType<typeof guarded>> = {
    'https:': guarded('https:'),
    'http:': guarded('http:'),
  }

  return (options, callback) => {
    const { guard, connect } = ways[options.protocol]!
    const host = options.hostname
    const objection = isIP(host) === 0 ? null : guard.objection(host, host)
    if (objection !== null) {
      process.nextTick(callback, new Unreachable(objection), null)
      return null
    }
    let certificate: PeerCertificate | undefined
    const socket = connect(options, (error, connected) => {
      if (error && certificate) presented.set(error, certificate)
      // biome-ignore lint/suspicious/noExplicitAny: undici's callback takes one or the other
      callback(error as any, connected as any)
    })
    // Before TLS begins, hence before all other listeners.
    socket.prependOnceListener('connect', () => checkPeer(guard, host, socket))
    socket.prependOnceListener('secure', () => {
      certificate = (socket as TLSSocket).getPeerCertificate()
    })
    return socket
  }
}

function checkPeer(guard: Guard, host: string, socket: Socket): void {
  const objection = guard.objection(host, socket.remoteAddress ?? '')
  if (objection !== null) socket.destroy(new Unreachable(objection))
}

function guardedLookup(guard: Guard, find: FindAddresses): LookupFunction {
  return (host, { all }, callback) => {
    find(host)
      .then((found) => {
        const allowed = guard.filter(host, found)
        if (allowed.length === 0) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' })
        return allowed
      })
      .then(
        (allowed) => {
          if (all) callback(null, allowed)
          else callback(null, allowed[0]!.address, allowed[0]!.family)
        },
        (error) => callback(error, '', 4),
      )
  }
}
