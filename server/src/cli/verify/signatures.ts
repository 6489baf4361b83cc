import { createHmac } from 'node:crypto'
import { CREDENTIAL_PREFIX, WEBHOOK_SECRET_PREFIX } from '../../contract/ids.ts'
import type { CapturedRequest } from './captured-request.ts'

/** A captured request and the secret to check it with. */
export interface SignatureCheck {
  readonly request: CapturedRequest
  readonly secret: string
  readonly toleranceMs: number
  readonly now: number
}

export const ID = 'webhook-id'
export const TIMESTAMP = 'webhook-timestamp'
export const SIGNATURE = 'webhook-signature'
export const PLATFORM = 'x-voucherify-signature'

interface Signed {
  readonly id: string
  readonly timestamp: string
  readonly body: string | Buffer
}

/** Standard Webhooks: HMAC of `id.timestamp.body` with the decoded secret. */
function signatureOf(secret: string, { id, timestamp, body }: Signed): string {
  const key = Buffer.from(secret.slice(WEBHOOK_SECRET_PREFIX.length), 'base64')
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
}

/** Voucherify's signature: HMAC of the body with the full secret. */
export const platformSignatureOf = (secret: string, body: string): string =>
  createHmac('sha256', secret).update(body).digest('hex')

export const HEX = /^[0-9a-f]{64}$/i
/** The header can have several signatures, separated by spaces. */
export const entriesOf = (signature: string): string[] => signature.split(/\s+/).filter(Boolean)

/** Signatures of version v1, which Jeton uses. */
export const knownEntriesOf = (signature: string): string[] =>
  entriesOf(signature).filter((entry) => entry.startsWith('v1,'))

/** Index of the signature that matches, or -1. */
export function signatureIndex(
  { request: { headers, body }, secret }: SignatureCheck,
  other: Partial<Signed & { secret: string }> = {},
): number {
  const signed = { id: headers.get(ID)!, timestamp: headers.get(TIMESTAMP)!, body, ...other }
  const wanted = `v1,${signatureOf(other.secret ?? secret, signed)}`
  return knownEntriesOf(headers.get(SIGNATURE)!).indexOf(wanted)
}

/** Padded base64 of 24 to 64 bytes, as Standard Webhooks requires. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const MIN_BYTES = 24
const MAX_BYTES = 64

/** Describes what is wrong with a secret; undefined if it is well-formed. */
export function secretProblem(secret: string): string | undefined {
  if (secret !== secret.trim()) return 'the secret has white space around it'
  const credential = Object.entries(CREDENTIAL_PREFIX).find(([, prefix]) => secret.startsWith(prefix))
  if (credential)
    return `this is ${credential[0].replace('_', ' ')} (${credential[1]}…), not a signing secret`
  if (!secret.startsWith(WEBHOOK_SECRET_PREFIX))
    return `the secret does not start with ${WEBHOOK_SECRET_PREFIX}`
  const rest = secret.slice(WEBHOOK_SECRET_PREFIX.length)
  if (!BASE64.test(rest)) return `the part after ${WEBHOOK_SECRET_PREFIX} is not base64: is it truncated?`
  const { length } = Buffer.from(rest, 'base64')
  return length < MIN_BYTES || length > MAX_BYTES
    ? `a secret has ${MIN_BYTES} to ${MAX_BYTES} bytes, and this one has ${length}: is it complete?`
    : undefined
}

/** The secret without white space and with its prefix. */
export const normalized = (secret: string): string =>
  secret.trim().replace(new RegExp(`^(?!${WEBHOOK_SECRET_PREFIX})`), WEBHOOK_SECRET_PREFIX)

export const SECRET_REMEDY = `Use the full secret that was shown when the webhook was created (${WEBHOOK_SECRET_PREFIX}…). If it is lost, replace it: jeton webhook rotate <webhook>`

/** A problem of a header, and its fix. */
export interface HeaderProblem {
  readonly says: string
  readonly remedy: string
}

export function timestampProblem(timestamp: string): HeaderProblem | undefined {
  const remedy = `Pass ${TIMESTAMP} on unchanged: seconds since 1970, such as 1760000000.`
  if (/^\d{12,}$/.test(timestamp)) return { says: `${TIMESTAMP} is in milliseconds`, remedy }
  return /^\d{1,11}$/.test(timestamp)
    ? undefined
    : { says: `${TIMESTAMP} is not a number of seconds`, remedy }
}

const ENTRY = /^v1,[A-Za-z0-9+/]{43}=$/

export function signatureProblem(signature: string): HeaderProblem | undefined {
  const entries = entriesOf(signature)
  if (entries.some((entry) => ENTRY.test(entry))) return undefined
  if (entries.some((entry) => HEX.test(entry)))
    return {
      says: `${SIGNATURE} has hexadecimal digits, like ${PLATFORM}`,
      remedy: `These are two headers: ${SIGNATURE} is v1,<base64> over id, timestamp and body; ${PLATFORM} is hexadecimal, over the body alone.`,
    }
  const versions = entries.map((entry) => /^(v\w+),/.exec(entry)?.[1]).filter((one) => one !== undefined)
  if (versions.length > 0 && !versions.includes('v1'))
    return {
      says: `${SIGNATURE} has version ${[...new Set(versions)].join(', ')}; expected v1`,
      remedy: 'Jeton signs with v1 (HMAC-SHA256). The request is not from Jeton, or the header was changed.',
    }
  return {
    says: `${SIGNATURE} is not in the format v1,<base64>`,
    remedy: `Pass ${SIGNATURE} on unchanged. Several signatures are separated by a space, and + / = are part of them.`,
  }
}
