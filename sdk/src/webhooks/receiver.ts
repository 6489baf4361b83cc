import type { EventMap, JetonEvent } from '../generated/events.ts'
import type { SeenStore } from './seen-store.ts'
import { readSecrets } from './signature.ts'
import { WebhookVerificationError } from './verification-error.ts'
import { type HeaderSource, header, type UnknownEvent, type VerifyInput, verify } from './verify.ts'

type Handler<Event> = (event: Event) => unknown

export interface ReceiverOptions extends Pick<VerifyInput, 'secret' | 'toleranceSeconds' | 'now'> {
  /** Required, because the same delivery may arrive more than once. */
  readonly seen: SeenStore
  /** Handlers by kind of event. */
  readonly on: { readonly [Kind in keyof EventMap]?: Handler<EventMap[Kind]> }
  /** Events without a handler. They are acknowledged if this is missing. */
  readonly onUnknown?: Handler<JetonEvent | UnknownEvent>
  /** Receives what went wrong: a failed verification, or the error of a handler or of the store. */
  readonly onError?: (error: unknown) => void
  /**
   * How long processing may take. If the process dies, the delivery can be processed again afterwards. Default: 50,000, so
   * that Jeton's first retry, after a minute, succeeds.
   */
  readonly leaseMs?: number
}

/** A request as it arrived. The body is null if something read it before, and undefined if it is too large. */
export interface IncomingDelivery {
  readonly method: string
  readonly headers: HeaderSource
  readonly body: Uint8Array | null | undefined
}

export interface DeliveryResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Jeton's events are smaller than its limit of 1 MB for a request, plus the envelope. */
export const MAX_BODY_BYTES = 2 * 1024 * 1024
const TEST_EVENT = 'webhook.test'

const respond = (status: number, body?: object): DeliveryResponse => ({
  status,
  headers: body ? { 'content-type': 'application/json' } : {},
  body: body ? JSON.stringify(body) : '',
})

const DONE = respond(204)

/** Decides about one delivery: 204 done, 400 not verified, 500 failed, 503 in progress elsewhere. Jeton retries all but 204. */
export function createDeliveryHandler(
  options: ReceiverOptions,
): (delivery: IncomingDelivery) => Promise<DeliveryResponse> {
  const { seen, on, onUnknown, onError, leaseMs = 50_000 } = options
  // Fails at the start instead of at the first delivery.
  readSecrets(options.secret)
  if (!seen) throw new TypeError('seen is required: the same delivery may arrive more than once.')

  function handlerOf(kind: string): Handler<never> | undefined {
    return Object.hasOwn(on, kind) ? on[kind as keyof EventMap] : onUnknown
  }

  async function process(webhookId: string, run: () => unknown): Promise<DeliveryResponse> {
    const state = await seen.begin(webhookId, leaseMs)
    if (state === 'done') return DONE
    if (state === 'busy') return respond(503, { error: 'in_progress' })
    try {
      await run()
    } catch (error) {
      await seen.release(webhookId)
      throw error
    }
    await seen.done(webhookId)
    return DONE
  }

  async function receive({ headers, body }: IncomingDelivery): Promise<DeliveryResponse> {
    const event = await verify({ ...options, headers, body: body as Uint8Array })
    const kind = event.event?.type
    const handle = kind === TEST_EVENT ? undefined : handlerOf(kind)
    return handle ? process(header(headers, 'webhook-id'), () => handle(event as never)) : DONE
  }

  return async (delivery) => {
    if (delivery.method !== 'POST') return respond(405, { error: 'method_not_allowed' })
    if (delivery.body === undefined) return respond(413, { error: 'payload_too_large' })
    try {
      return await receive(delivery)
    } catch (error) {
      onError?.(error)
      if (!(error instanceof WebhookVerificationError)) return respond(500, { error: 'internal_error' })
      return respond(400, { error: error.reason, hint: error.hint })
    }
  }
}

/** Undefined if the body is too large, null if it was read before. */
async function readBody(request: Request): Promise<Uint8Array | null | undefined> {
  if (request.bodyUsed) return null
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  const reader = request.body?.getReader()
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    length += read.value.length
    if (length > MAX_BODY_BYTES) return void reader?.cancel()
    chunks.push(read.value)
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}

/** Returns a handler for web-standard servers. */
export function createReceiver(options: ReceiverOptions): (request: Request) => Promise<Response> {
  const handle = createDeliveryHandler(options)
  return async (request) => {
    const { method, headers } = request
    const { status, headers: sent, body } = await handle({ method, headers, body: await readBody(request) })
    return new Response(body === '' ? null : body, { status, headers: sent })
  }
}
