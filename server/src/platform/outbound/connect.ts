import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { PeerCertificate, TLSSocket } from 'node:tls'
import { buildConnector } from 'undici'
import type { EgressPolicy } from './egress-policy.ts'
import { BlockedAddress, createGuard, type Guard } from './guard.ts'
import { coalesced, type ResolveHost } from './resolve.ts'
import { watchResponses } from './watch-responses.ts'

type Options = buildConnector.Options
type Callback = buildConnector.Callback

interface ConnectorParts {
  readonly policy: EgressPolicy
  readonly resolve: ResolveHost
  /** Certificate authorities (PEM) instead of Node's own. */
  readonly ca?: string | undefined
  readonly timeoutMs: number
}

/** The certificate of a TLS error, kept for the error message because the socket has dropped it by then. */
const presented = new WeakMap<Error, PeerCertificate>()
export const certificateOf = (error: Error): PeerCertificate | undefined => presented.get(error)

/**
 * Opens undici's connections, only to addresses that the policy allows. It checks three times: an IP literal before
 * anything happens; the addresses of a name, of which only allowed ones are used; and the peer's address before the first
 * byte is sent.
 */
export class GuardedConnector {
  readonly #connectors: Record<string, ReturnType<typeof guardedConnector>>
  readonly #connecting = new Map<Socket, Options>()
  #openCount = 0

  constructor(parts: ConnectorParts) {
    const resolve = coalesced(parts.resolve)
    const connectorFor = (protocol: string) => guardedConnector({ ...parts, resolve }, protocol)
    this.#connectors = { 'http:': connectorFor('http:'), 'https:': connectorFor('https:') }
  }

  /** Connections that are open or being opened. */
  get openCount(): number {
    return this.#openCount
  }

  /** True if a TLS handshake with this origin is in progress: TCP is connected and TLS is not. */
  isHandshaking({ protocol, host }: URL): boolean {
    const isSame = (options: Options) => options.protocol === protocol && options.host === host
    return [...this.#connecting].some(([socket, options]) => isSame(options) && !socket.connecting)
  }

  /** Needed because undici does not abort connections in progress when it is destroyed. */
  destroyConnecting(): void {
    for (const socket of this.#connecting.keys()) socket.destroy()
  }

  readonly connect = (options: Options, callback: Callback): void => {
    const { guard, connect } = this.#connectors[options.protocol]!
    const { hostname } = options
    const reason = isIP(hostname) === 0 ? null : guard.reasonToBlock(hostname, hostname)
    if (reason !== null) {
      process.nextTick(callback, new BlockedAddress(reason), null)
      return
    }
    let certificate: PeerCertificate | undefined
    const socket = connect({ ...options, servername: serverName(hostname) }, (error, connected) => {
      this.#connecting.delete(socket)
      if (error && certificate) presented.set(error, certificate)
      if (connected) watchResponses(connected)
      // biome-ignore lint/suspicious/noExplicitAny: undici's callback takes one or the other
      callback(error as any, connected as any)
    })
    this.#connecting.set(socket, options)
    this.#openCount++
    socket.once('close', () => {
      this.#openCount--
      this.#connecting.delete(socket)
    })
    // Prepended, so that it runs before TLS begins.
    socket.prependOnceListener('connect', () => checkPeer(guard, hostname, socket))
    socket.prependOnceListener('secure', () => {
      certificate = (socket as TLSSocket).getPeerCertificate()
    })
  }
}

/** Name for SNI, which has no trailing dot (RFC 6066 §3); an IP address has none. */
const serverName = (hostname: string): string => (isIP(hostname) === 0 ? hostname.replace(/\.$/, '') : '')

function guardedConnector({ policy, resolve, ca, timeoutMs }: ConnectorParts, protocol: string) {
  const guard = createGuard(policy, protocol)
  const connect = buildConnector({
    lookup: guardedLookup(guard, resolve),
    timeout: timeoutMs,
    allowH2: false,
    // Every connection makes a full handshake, so that each certificate is checked.
    maxCachedSessions: 0,
    // Set explicitly, so that no environment variable can turn it off.
    rejectUnauthorized: true,
    ...(ca && { ca }),
  })
  // It returns the socket, although its type does not say so.
  return { guard, connect: connect as (options: Options, callback: Callback) => Socket }
}

function checkPeer(guard: Guard, hostname: string, socket: Socket): void {
  const peer = socket.remoteAddress
  // Without an address the connection is already closed, so there is nothing to block.
  if (peer === undefined) socket.destroy(Object.assign(new Error('closed'), { code: 'ECONNRESET' }))
  else {
    const reason = guard.reasonToBlock(hostname, peer)
    if (reason !== null) socket.destroy(new BlockedAddress(reason))
  }
}

function guardedLookup(guard: Guard, resolve: ResolveHost): LookupFunction {
  async function allowedAddresses(host: string) {
    const allowed = guard.filter(host, await resolve(host))
    if (allowed.length === 0) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' })
    return allowed
  }
  return (host, { all }, callback) => {
    allowedAddresses(host).then(
      (allowed) => {
        if (all) callback(null, allowed)
        else callback(null, allowed[0]!.address, allowed[0]!.family)
      },
      (error) => callback(error, '', 4),
    )
  }
}
