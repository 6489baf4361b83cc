import { createHmac } from 'node:crypto'
import { WEBHOOK_SECRET_PREFIX } from '../../contract/ids.ts'
import type { CapturedRequest } from './captured-request.ts'

/** What is to be judged. */
export interface Asked {
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

/** Standard Webhooks: what is between the dots, under the decoded secret. */
function signatureOf(secret: string, { id, timestamp, body }: Signed): string {
  const key = Buffer.from(secret.slice(WEBHOOK_SECRET_PREFIX.length), 'base64')
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
}

/** The platform's: the body alone, under the whole secret as it is shown. */
export const platformSignatureOf = (secret: string, body: string): string =>
  createHmac('sha256', secret).update(body).digest('hex')

export const HEX = /^[0-9a-f]{64}$/i
/** Several are separated by spaces. */
export const entriesOf = (signature: string): string[] => signature.split(/\s+/).filter(Boolean)

/** Those of the version that Jeton signs with; a header may hold others beside them. */
export const knownEntriesOf = (signature: string): string[] =>
  entriesOf(signature).filter((entry) => entry.startsWith('v1,'))

/** Which of these signatures is that of the bytes: 0 is the first, -1 none. */
export function placeOf(
  { request: { headers, body }, secret }: Asked,
  other: Partial<Signed & { secret: string }> = {},
): number {
  const signed = { id: headers.get(ID)!, timestamp: headers.get(TIMESTAMP)!, body, ...other }
  const wanted = `v1,${signatureOf(other.secret ?? secret, signed)}`
  return knownEntriesOf(headers.get(SIGNATURE)!).indexOf(wanted)
}
