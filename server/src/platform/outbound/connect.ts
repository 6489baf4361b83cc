import { connect as connectTcp, isIP, type LookupFunction, type OnReadOpts, type Socket } from 'node:net'
import { connect as connectTls, type PeerCertificate, type TLSSocket } from 'node:tls'
import { type Clock, systemClock } from '../clock.ts'
import { type FindAddresses, sharing } from './find-addresses.ts'
import { createGuard, type Guard, Unreachable } from './guard.ts'
import type { Reach } from './reach.ts'

/** Where a connection leads, and what hears of it. */
export interface Connecting {
  readonly url: URL
  readonly onread: OnReadOpts
  /** Once: it is there, with its certificate accepted, or there is none. */
  ready(error: Error | null): void
}

/** A connection on its way: closed by `socket.destroy()` before it is there, too. Null where the guard forbids it. */
export type Connect = (connecting: Connecting) => Socket | null

interface ConnectParts {
  readonly reach: Reach
  readonly find: FindAddresses
  /** Authorities to trust in place of those that Node brings along. */
  readonly ca?: string | undefined
  readonly clock?: Clock
}

/** What was presented, kept for the words about a certificate that was not accepted: by then the socket has let go of it. */
const presented = new WeakMap<Error, PeerCertificate>()
export const certificateOf = (error: Error): PeerCertificate | undefined => presented.get(error)

/** Of receivers, so that a connection which is opened again costs no whole handshake. */
const SESSIONS_KEPT = 1_000
/** Within this time a certificate is looked at again, whoever goes on with the session that it began. */
const SESSION_MAX_MS = 300_000

interface Session {
  readonly ticket: Buffer
  /** When there was a whole handshake. */
  readonly since: number
}

/** As long as the system may keep a connection to a receiver that is no longer there. */
const PROBE_AFTER_MS = 60_000

/**
 * Opens connections only to what may be reached. Three checks: an address as host is judged before anything happens; of
 * a name's addresses only allowed ones are handed on, so that what was judged is what is connected to, whatever the name
 * says a moment later; and the peer is looked at once more before the first byte leaves.
 */
export function createConnect({ reach, find, ca, clock = systemClock }: ConnectParts): Connect {
  const shared = sharing(find)
  const sessions = new Map<string, Session>()
  const guarded = (protocol: string) => {
    const guard = createGuard(reach, protocol)
    return { guard, lookup: guardedLookup(guard, shared) }
  }
  const ways: Record<string, ReturnType<typeof guarded>> = {
    'https:': guarded('https:'),
    'http:': guarded('http:'),
  }

  function keepSession(origin: string, session: Session): void {
    sessions.delete(origin)
    if (sessions.size >= SESSIONS_KEPT) sessions.delete(sessions.keys().next().value!)
    sessions.set(origin, session)
  }

  return ({ url, onread, ready }) => {
    const { guard, lookup } = ways[url.protocol]!
    const host = hostOf(url)
    const objection = isIP(host) === 0 ? null : guard.objection(host, host)
    if (objection !== null) {
      process.nextTick(ready, new Unreachable(objection))
      return null
    }
    // No time limit of its own: a send has one over all, and closes the socket at its end.
    const options = {
      host,
      lookup,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: PROBE_AFTER_MS,
      onread,
    }
    const isSecure = url.protocol === 'https:'
    const port = Number(url.port) || (isSecure ? 443 : 80)
    const known = sessions.get(url.origin)
    const session = known && clock.monotonic() - known.since < SESSION_MAX_MS ? known : undefined
    const socket = isSecure
      ? connectTls({
          ...options,
          port,
          // Said here, so that no variable of the environment can switch it off.
          rejectUnauthorized: true,
          ALPNProtocols: ['http/1.1'],
          ...(isIP(host) === 0 && { servername: host }),
          ...(ca && { ca }),
          ...(session && { session: session.ticket }),
        })
      : connectTcp({ ...options, port })
    // Before TLS begins, hence before all other listeners.
    socket.prependOnceListener('connect', () => checkPeer(guard, host, socket))
    let certificate: PeerCertificate | undefined
    socket.prependOnceListener('secure', () => {
      certificate = (socket as TLSSocket).getPeerCertificate()
    })
    socket.on('session', (ticket: Buffer) => {
      const isGoingOn = session && (socket as TLSSocket).isSessionReused()
      keepSession(url.origin, { ticket, since: isGoingOn ? session.since : clock.monotonic() })
    })
    let isReady = false
    function tell(error: Error | null): void {
      if (isReady) return
      isReady = true
      if (error && certificate) presented.set(error, certificate)
      certificate = undefined
      // Perhaps because of it: the next one begins anew.
      if (error) sessions.delete(url.origin)
      ready(error)
    }
    socket.once(isSecure ? 'secureConnect' : 'connect', () => tell(null))
    socket.once('error', tell)
    return socket
  }
}

/** Without the brackets of an IPv6 address. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1')

function checkPeer(guard: Guard, host: string, socket: Socket): void {
  const peer = socket.remoteAddress
  // It is gone already: that is no address that must not be reached.
  if (peer === undefined) socket.destroy(Object.assign(new Error('gone'), { code: 'ECONNRESET' }))
  else {
    const objection = guard.objection(host, peer)
    if (objection !== null) socket.destroy(new Unreachable(objection))
  }
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
