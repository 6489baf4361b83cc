import {
  EVENT_KINDS,
  REWARD_REDEMPTION_COMPLETED,
  type StoredKind,
  TEST_EVENT,
} from '../../contract/event-kinds.ts'
import { withoutCredentials } from '../../contract/ids.ts'
import { Problem } from '../../contract/problem.ts'
import type { Vault } from '../../platform/encryption.ts'
import type { Sender, SendOutcome } from '../../platform/outbound/index.ts'
import { openHeaders, openSecrets } from '../webhooks/index.ts'
import type { Target } from './delivery-queue.ts'
import { retryAfterMs } from './retry-after.ts'
import { standardSignature, voucherifySignature } from './signature.ts'

/** One attempt, with everything that is required to send it. */
export interface OutgoingDelivery {
  readonly deliveryId: string
  readonly kind: StoredKind
  /** 1 for the first. */
  readonly attempt: number
  /** Exact bytes that are signed and sent. */
  readonly body: Buffer
  /** Trace of the event, or of the span of this attempt; sent on, and not signed. */
  readonly traceparent?: string | null | undefined
  readonly target: Target
  /** Store time: used as the timestamp of the signature, and to decide whether the previous secret still signs. */
  readonly nowMs: number
  readonly signal?: AbortSignal | undefined
}

export interface SendResult {
  readonly durationMs: number
  /** HTTP status; null without a response. */
  readonly status: number | null
  /** The first 16 KB. */
  readonly responseBody: string | null
  /** Explanation; null on success. */
  readonly error: string | null
  /** `gone`: 410, the receiver wants no more events. `refused`: blocked by the guard, not retried. `unsent`: our own error. */
  readonly outcome: 'delivered' | 'failed' | 'gone' | 'refused' | 'unsent'
  /** Delay that the receiver requested (429 and 503 only). */
  readonly retryAfterMs: number | null
}

interface SendDeps {
  readonly sender: Sender
  readonly vault: Vault
}

type Headers = Readonly<Record<string, string>>

/** Makes one attempt. A secret that cannot be decrypted is recorded as an outcome; only a bug throws. */
export async function sendDelivery({ sender, vault }: SendDeps, send: OutgoingDelivery): Promise<SendResult> {
  const { target, body, signal } = send
  const opened = openedFor(vault, send)
  if (opened instanceof Problem) return notSent(opened)
  const own = ownHeaders(send, opened.secrets, body)
  const headers = opened.extra === NONE ? own : { ...opened.extra, ...own }
  const answer = await sender.send({ url: target.target_url, headers, body, signal })
  return resultOf(answer, send, opened.extra)
}

interface Opened {
  readonly secrets: string[]
  /** Additional headers of a distribution. */
  readonly extra: Headers
}

const NONE: Headers = {}

function openedFor(vault: Vault, { target, nowMs }: OutgoingDelivery): Opened | Problem {
  try {
    const extra = target.headers === '{}' ? NONE : openHeaders(vault, target)
    return { secrets: openSecrets(vault, target, nowMs), extra }
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

const notSent = ({ message }: Problem): SendResult => ({
  durationMs: 0,
  status: null,
  responseBody: null,
  error: `not sent: ${message}`,
  outcome: 'unsent',
  retryAfterMs: null,
})

const versionOf = (kind: StoredKind): string =>
  EVENT_KINDS[kind === TEST_EVENT ? REWARD_REDEMPTION_COMPLETED : kind].version

/** Signs every attempt again, because receivers refuse old timestamps. */
export function ownHeaders(
  send: Pick<OutgoingDelivery, 'deliveryId' | 'kind' | 'attempt' | 'nowMs' | 'traceparent'>,
  secrets: readonly string[],
  body: Buffer,
): Headers {
  const { deliveryId: id, kind, attempt, traceparent } = send
  const timestamp = Math.floor(send.nowMs / 1000)
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standardSignature(secrets, { id, timestamp, body }),
    'x-voucherify-signature': voucherifySignature(secrets[0]!, body),
    'x-jeton-event': kind,
    'x-jeton-event-version': versionOf(kind),
    'x-jeton-attempt': String(attempt),
    ...(traceparent && { traceparent }),
  }
}

const GONE = 410
const RETRY_AFTER_STATUSES = new Set([429, 503])

function resultOf(answer: SendOutcome, send: OutgoingDelivery, extra: Headers): SendResult {
  const { status, durationMs } = answer
  const outcome = outcomeOf(answer)
  const waits = status !== null && RETRY_AFTER_STATUSES.has(status)
  return {
    durationMs,
    status,
    responseBody: answer.body && withoutSecrets(answer.body, extra),
    error: outcome === 'delivered' ? null : (answer.error ?? `answered ${status}`),
    outcome,
    retryAfterMs: waits ? retryAfterMs(answer.retryAfter, send.nowMs + durationMs) : null,
  }
}

/** Any 2xx is a success if the response was read to its end or to the size limit. */
function outcomeOf({ status, error, isBlocked }: SendOutcome): SendResult['outcome'] {
  if (isBlocked) return 'refused'
  if (status === GONE) return 'gone'
  return error === null && status !== null && status >= 200 && status < 300 ? 'delivered' : 'failed'
}

/** Masking shorter values would hide text that is not secret. */
const SECRET_MIN_LENGTH = 8

/** Masks secrets in the response, because receivers that are being set up often echo the request. */
function withoutSecrets(text: string, extra: Headers): string {
  let clean = withoutCredentials(text)
  for (const form of Object.values(extra).flatMap(formsOf)) clean = clean.replaceAll(form, '•••')
  return clean
}

/** The value, the part after its scheme (`Bearer …`), and both with JSON escapes; longest first. */
const formsOf = (value: string): string[] =>
  [value, ...value.split(' ')]
    .flatMap((part) => [part, JSON.stringify(part).slice(1, -1), part.replaceAll('/', '\\/')])
    .filter((form) => form.length >= SECRET_MIN_LENGTH)
    .sort((a, b) => b.length - a.length)
