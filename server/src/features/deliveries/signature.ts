import { createHmac } from 'node:crypto'
import { WEBHOOK_SECRET_PREFIX } from '../../contract/ids.ts'

/** Signed content: delivery id, time in seconds, and the exact body. */
interface SignedContent {
  readonly id: string
  readonly timestamp: number
  readonly body: Buffer
}

/**
 * `webhook-signature` (Standard Webhooks 1.0): one signature per valid secret, so that receivers which know only one of
 * them accept the request during a rotation.
 */
export function standardSignature(
  secrets: readonly string[],
  { id, timestamp, body }: SignedContent,
): string {
  const sign = (secret: string): string => {
    // The key is text, because Node takes three times as long for a key in bytes.
    const hmac = createHmac('sha256', secret.slice(WEBHOOK_SECRET_PREFIX.length), { encoding: 'base64' })
    return `v1,${hmac.update(`${id}.${timestamp}.`).update(body).digest('base64')}`
  }
  return secrets.map(sign).join(' ')
}

/** `x-voucherify-signature`. The key is the secret as shown, including its prefix. */
export const voucherifySignature = (secret: string, body: Buffer | string): string =>
  createHmac('sha256', secret).update(body).digest('hex')
