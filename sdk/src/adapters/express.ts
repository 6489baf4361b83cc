import type { Scope } from '../generated/scopes.ts'
import type { Caller, Guard, Refused } from '../guard/index.ts'
import { createDeliveryHandler, MAX_BODY_BYTES, type ReceiverOptions } from '../webhooks/index.ts'

/** The part of Node's request that is used, so that this package does not depend on Express. */
interface NodeRequest extends AsyncIterable<unknown> {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly socket: { readonly remoteAddress?: string | undefined }
  readonly readableEnded?: boolean
  readonly method?: string | undefined
}

interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown
  end(body?: string): unknown
}

type Next = (error?: unknown) => void

declare global {
  namespace Express {
    interface Request {
      /** Set by `requireScope`. */
      jeton: Caller
    }
  }
}

function send(
  response: NodeResponse,
  { status, headers, body }: Pick<Refused, 'headers' | 'body'> & { status: number },
): void {
  response.writeHead(status, { ...headers })
  response.end(body)
}

export interface RequireScopeOptions<Request> {
  /**
   * Address of the caller. Default: the peer of the socket. Behind a proxy, set Express' `trust proxy` to the address of the
   * proxy and pass `(request) => request.ip`.
   */
  readonly address?: (request: Request) => string | undefined
}

/** Middleware that lets a call pass if its token covers the scope. The caller is in `request.jeton`. */
export function requireScope<Request extends NodeRequest>(
  guard: Guard,
  scope: Scope,
  { address = (request) => request.socket.remoteAddress }: RequireScopeOptions<Request> = {},
): (request: Request, response: NodeResponse, next: Next) => Promise<void> {
  return async (request, response, next) => {
    try {
      const { authorization } = request.headers
      const sent = typeof authorization === 'string' ? authorization : undefined
      const verdict = await guard.check({ authorization: sent, scope, address: address(request) })
      if (!verdict.allowed) return send(response, verdict)
      Object.assign(request, { jeton: verdict.caller })
    } catch (error) {
      return next(error)
    }
    next()
  }
}

/** Undefined if the body is too large. */
async function readBody(request: NodeRequest): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > MAX_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  const body = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    body.set(chunk, offset)
    offset += chunk.length
  }
  return body
}

/** Receives webhooks. It reads the raw body itself: mount it before `express.json()`. */
export function receiveWebhooks(
  options: ReceiverOptions,
): (request: NodeRequest, response: NodeResponse, next: Next) => Promise<void> {
  const handle = createDeliveryHandler(options)
  return async (request, response, next) => {
    try {
      const body = request.readableEnded ? null : await readBody(request)
      send(response, await handle({ method: request.method ?? '', headers: request.headers, body }))
    } catch (error) {
      next(error)
    }
  }
}
