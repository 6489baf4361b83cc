import { Agent, type Dispatcher, type Pool } from 'undici'
import { type Clock, systemClock } from '../clock.ts'
import { GuardedConnector } from './connect.ts'
import type { EgressPolicy } from './egress-policy.ts'
import { createResolver, type ResolveHost } from './resolve.ts'
import { type OutboundRequest, SendHandler, type SendOutcome } from './send-handler.ts'
import { TargetPools } from './target-pools.ts'

/** Posts to receivers over persistent connections, within one deadline, and only to allowed addresses. */
export interface Sender {
  /** Resolves with a response or with the reason why there is none; never rejects. The body must not change meanwhile. */
  send(request: OutboundRequest): Promise<SendOutcome>
  /** Aborts the sends in flight and closes all connections. */
  close(): Promise<void>
}

interface SenderParts {
  readonly policy: EgressPolicy
  readonly userAgent?: string
  readonly clock?: Clock
  readonly resolve?: ResolveHost
  /** Certificate authorities (PEM) instead of Node's own. */
  readonly ca?: string
  readonly deadlineMs?: number
  readonly maxOpenConnections?: number
}

/** Covers everything: DNS lookup, connecting, TLS, sending, waiting and reading. */
const DEADLINE_MS = 10_000
export const MAX_HEADER_BYTES = 16 * 1024
/** Default without a hint from the receiver. Common servers close after 5 s, and a connection closed in use costs a retry. */
const KEEP_ALIVE_MS = 4_000
const MAX_KEEP_ALIVE_MS = 30_000
/** Connections are renewed after this time, so that a DNS change takes effect even under constant load. */
const MAX_CONNECTION_AGE_MS = 300_000
/** Enough for a thousand receivers with two each. Above it, connections are closed after one request. */
const MAX_OPEN_CONNECTIONS = 2_000
/** A receiver may answer a larger body before it has read all of it, and then never read the next request. */
const MAX_REUSABLE_BODY_BYTES = 64 * 1024

export function createSender(parts: SenderParts): Sender {
  const { policy, clock = systemClock, resolve = createResolver(), ca } = parts
  const { userAgent = 'Jeton', deadlineMs = DEADLINE_MS, maxOpenConnections = MAX_OPEN_CONNECTIONS } = parts
  const connector = new GuardedConnector({ policy, resolve, ca, timeoutMs: deadlineMs })
  const options: Pool.Options = {
    connect: connector.connect,
    allowH2: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    // The deadline of a send covers both timeouts.
    headersTimeout: 0,
    bodyTimeout: 0,
  }
  const pools = new TargetPools({
    ...options,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
    clientTtl: MAX_CONNECTION_AGE_MS,
  })
  /** Keeps no connection, so that a retry always gets a new one. */
  const freshAgent = new Agent({ ...options, pipelining: 0 })
  const inFlight = new Set<SendHandler>()
  let isClosed = false

  const toDispatch = ({ headers, body }: OutboundRequest, url: URL): Dispatcher.DispatchOptions => ({
    origin: url.origin,
    path: url.pathname + url.search,
    method: 'POST',
    headers: { ...headers, 'user-agent': userAgent },
    body,
    reset: body.length > MAX_REUSABLE_BODY_BYTES || connector.openCount > maxOpenConnections,
  })

  return {
    send: (request) =>
      new Promise((settled) => {
        const url = new URL(request.url)
        const dispatch = toDispatch(request, url)
        const handler = new SendHandler({
          url,
          clock,
          deadlineMs,
          isHandshaking: (at) => connector.isHandshaking(at),
          retry: (again) => freshAgent.dispatch(dispatch, again),
          onSettled(outcome) {
            inFlight.delete(handler)
            request.signal?.removeEventListener('abort', handler.stop)
            settled(outcome)
          },
        })
        inFlight.add(handler)
        request.signal?.addEventListener('abort', handler.stop)
        if (isClosed || request.signal?.aborted) handler.stop()
        else pools.of(url).dispatch(dispatch, handler)
      }),
    async close() {
      isClosed = true
      for (const handler of inFlight) handler.stop()
      connector.destroyConnecting()
      await Promise.all([pools.destroy(), freshAgent.destroy()])
    },
  }
}
