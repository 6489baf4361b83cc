import type { EventMap, JetonEvent } from '../generated/events.ts'
import { isSame, readSecrets, type SignedContent, signatureOf, toBase64 } from './signature.ts'
import { WebhookVerificationError } from './verification-error.ts'

export type HeaderSource = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

export interface VerifyInput {
  /** The body as it arrived. */
  readonly body: string | Uint8Array | ArrayBuffer
  readonly headers: HeaderSource
  /** Several while a secret is rotated. */
  readonly secret: string | readonly string[]
  /** Largest difference between the clocks, in seconds. Default: 300. */
  readonly toleranceSeconds?: number
  /** Wall clock in milliseconds, for tests. */
  readonly now?: () => number
}

/** A test event, or an event of a kind that this version does not know. */
export interface UnknownEvent {
  readonly id: string
  readonly type: string
  readonly data: unknown
  readonly event: { readonly id: string; readonly type: string }
}

const utf8 = { encode: new TextEncoder(), decode: new TextDecoder() }

function bytesOf(body: unknown): Uint8Array {
  if (typeof body === 'string') return utf8.encode.encode(body)
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  if (body instanceof Uint8Array) return body
  throw new WebhookVerificationError('body_not_raw')
}

/** Value of a header, in any case. Throws if it is missing or was sent more than once. */
export function header(headers: HeaderSource, name: string): string {
  const entries = headers instanceof Headers ? [[name, headers.get(name)] as const] : Object.entries(headers)
  const found = entries.filter(([key, value]) => key.toLowerCase() === name && value)
  const value = found[0]?.[1]
  if (found.length === 1 && typeof value === 'string') return value
  throw new WebhookVerificationError('missing_headers')
}

/** Signatures of version 1, without their prefix. */
function signaturesIn(text: string): string[] {
  const found = text.split(' ').filter((entry) => /^v1,[A-Za-z0-9+/]{43}=$/.test(entry))
  if (found.length === 0) throw new WebhookVerificationError('malformed_headers')
  return found.map((entry) => entry.slice('v1,'.length))
}

async function isSigned(
  keys: readonly Uint8Array<ArrayBuffer>[],
  given: readonly string[],
  content: SignedContent,
): Promise<boolean> {
  const expected = await Promise.all(keys.map(async (key) => toBase64(await signatureOf(key, content))))
  // Compares all of them, so that the time does not tell which secret signed.
  return expected.flatMap((one) => given.map((other) => isSame(one, other))).includes(true)
}

/** Body in the compact form that Jeton sends; undefined if it is not JSON. */
function compacted(body: Uint8Array): Uint8Array | undefined {
  try {
    return utf8.encode.encode(JSON.stringify(JSON.parse(utf8.decode.decode(body))))
  } catch {
    return undefined
  }
}

/** Finds out why the signature does not match, for the developer of the receiver. The request is refused in any case. */
async function mismatch(
  keys: readonly Uint8Array<ArrayBuffer>[],
  given: readonly string[],
  content: SignedContent,
): Promise<WebhookVerificationError> {
  if (content.body.length === 0) return new WebhookVerificationError('body_not_raw')
  const body = compacted(content.body)
  const isRewritten = body !== undefined && (await isSigned(keys, given, { ...content, body }))
  return new WebhookVerificationError(isRewritten ? 'body_rewritten' : 'signature_mismatch')
}

function requireRecent(timestamp: string, toleranceSeconds: number, now: number): void {
  const ageSeconds = Math.round(now / 1000 - Number(timestamp))
  if (Math.abs(ageSeconds) <= toleranceSeconds) return
  const says = `Signed ${Math.abs(ageSeconds)} s ${ageSeconds > 0 ? 'ago' : 'in the future'}, by the clock of this machine.`
  throw new WebhookVerificationError(
    ageSeconds > 0 ? 'timestamp_too_old' : 'timestamp_in_future',
    `${says} The limit is ${toleranceSeconds} s. Check the clock, or whether the request was recorded and sent again.`,
  )
}

/** Verifies a delivery by Standard Webhooks and returns its event. Throws WebhookVerificationError, which names the cause. */
export async function verify(input: VerifyInput): Promise<JetonEvent | UnknownEvent> {
  const { headers, toleranceSeconds = 300, now = Date.now } = input
  const keys = readSecrets(input.secret)
  const body = bytesOf(input.body)
  const [id, timestamp] = [header(headers, 'webhook-id'), header(headers, 'webhook-timestamp')]
  const given = signaturesIn(header(headers, 'webhook-signature'))
  if (!/^\d{1,11}$/.test(timestamp)) throw new WebhookVerificationError('malformed_headers')
  const content = { id, timestamp, body }
  if (!(await isSigned(keys, given, content))) throw await mismatch(keys, given, content)
  requireRecent(timestamp, toleranceSeconds, now())
  return JSON.parse(utf8.decode.decode(body))
}

/**
 * True for an event of this kind. The kind is `event.type` of the signed body: a distribution may have its own name in
 * `type`, and the header `X-Jeton-Event` is not signed.
 */
export const isKind = <Kind extends keyof EventMap>(
  event: JetonEvent | UnknownEvent,
  kind: Kind,
): event is EventMap[Kind] => event.event?.type === kind
