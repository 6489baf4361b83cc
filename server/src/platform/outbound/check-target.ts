import { isIP, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { Problem } from '../../contract/problem.ts'
import type { Clock } from '../clock.ts'
import { certificateOf, GuardedConnector } from './connect.ts'
import type { EgressPolicy } from './egress-policy.ts'
import { failureMessage } from './error-messages.ts'
import { BlockedAddress, createGuard, type ResolvedAddress } from './guard.ts'
import { createResolver, type ResolveHost } from './resolve.ts'
import { checkTargetUrl } from './target-url.ts'

/** The result of one connection to a target. */
export interface TargetCheck {
  /** Whether the guard lets events be sent there. */
  readonly allowed: boolean
  /** Why it is not allowed, or why there was no connection; null if there was one. */
  readonly reason: string | null
  /** Addresses of its host that may be reached. Others are left out. */
  readonly addresses: readonly string[]
  /** When its certificate expires, epoch milliseconds; null where none was seen. */
  readonly tlsValidUntil: number | null
  /** Name look-up, TCP and TLS together; null without a connection. */
  readonly connectMs: number | null
}

interface CheckParts {
  readonly policy: EgressPolicy
  readonly clock: Clock
  readonly resolve?: ResolveHost
  /** Authorities to trust instead of Node's own (PEM). */
  readonly ca?: string
  readonly deadlineMs?: number
}

/** As long as a send may take. */
const DEADLINE_MS = 10_000

/** Opens one connection by the rules of deliveries and closes it: nothing is sent but the TLS handshake. Never rejects. */
export const createTargetCheck =
  (parts: CheckParts) =>
  async (targetUrl: string, signal?: AbortSignal): Promise<TargetCheck> => {
    try {
      checkTargetUrl(targetUrl, parts.policy)
    } catch (error) {
      if (error instanceof Problem) return refused([error.message, error.details].join(' '))
      throw error
    }
    return openOnce(parts, new URL(targetUrl), signal)
  }

const refused = (reason: string): TargetCheck => ({
  ...{ allowed: false, reason, addresses: [], tlsValidUntil: null, connectMs: null },
})

async function openOnce(parts: CheckParts, url: URL, signal?: AbortSignal): Promise<TargetCheck> {
  const { policy, clock, ca, deadlineMs = DEADLINE_MS, resolve = createResolver() } = parts
  const host = url.hostname.replace(/^\[|\]$/g, '')
  let resolved: readonly ResolvedAddress[] = isIP(host) === 0 ? [] : [{ address: host, family: isIP(host) }]
  const connector = new GuardedConnector({
    policy,
    ca,
    timeoutMs: deadlineMs,
    resolve: async (name) => (resolved = await resolve(name)),
  })
  const guard = createGuard(policy, url.protocol)
  const allowedAddresses = () =>
    resolved.map(({ address }) => address).filter((one) => guard.reasonToBlock(host, one) === null)
  const startedAt = clock.monotonic()
  try {
    const socket = await connected(connector, { url, host, signal })
    const tlsValidUntil = expiryOf(url.protocol === 'https:' ? (socket as TLSSocket) : undefined)
    socket.destroy()
    const connectMs = Math.round(clock.monotonic() - startedAt)
    return { allowed: true, reason: null, addresses: allowedAddresses(), tlsValidUntil, connectMs }
  } catch (error) {
    const reason = reasonOf(error as Error, { url, now: clock.now() })
    if (error instanceof BlockedAddress) return refused(reason)
    const validTo = Date.parse(certificateOf(error as Error)?.valid_to ?? '')
    const tlsValidUntil = Number.isNaN(validTo) ? null : validTo
    return { allowed: true, reason, addresses: allowedAddresses(), tlsValidUntil, connectMs: null }
  }
}

interface Target {
  readonly url: URL
  readonly host: string
  readonly signal: AbortSignal | undefined
}

function connected(connector: GuardedConnector, { url, host, signal }: Target): Promise<Socket> {
  const { protocol, port } = url
  const stop = () => connector.destroyConnecting()
  signal?.addEventListener('abort', stop)
  return new Promise<Socket>((resolve, reject) => {
    connector.connect({ protocol, hostname: host, host: url.host, port } as never, (error, socket) =>
      error ? reject(error) : resolve(socket as Socket),
    )
  }).finally(() => signal?.removeEventListener('abort', stop))
}

function expiryOf(socket: TLSSocket | undefined): number | null {
  const validTo = Date.parse(socket?.getPeerCertificate().valid_to ?? '')
  return Number.isNaN(validTo) ? null : validTo
}

const reasonOf = (error: Error, { url, now }: { url: URL; now: number }): string =>
  failureMessage(error, {
    ...{ url, now, connectMs: null, isHandshaking: false, status: null, received: 0, length: null },
  })
