import { WEBHOOK_SECRET_PREFIX } from '../../contract/ids.ts'
import { type HmacKey, hmacKey, Signable } from '../../platform/hmac.ts'

/** What is signed: the delivery's id, the time in seconds, and the body, byte for byte. */
interface Signed {
  readonly id: string
  readonly timestamp: number
  readonly body: Buffer
}

/** For about a thousand destinations in rotation. */
const KEYS_KEPT = 2_000
interface Keys {
  readonly standard: HmacKey
  readonly voucherify: HmacKey
}
const keys = new Map<string, Keys>()

function keysOf(secret: string): Keys {
  const known = keys.get(secret)
  if (known) return known
  const made = {
    standard: hmacKey(Buffer.from(secret.slice(WEBHOOK_SECRET_PREFIX.length), 'base64')),
    voucherify: hmacKey(Buffer.from(secret)),
  }
  if (keys.size >= KEYS_KEPT) keys.delete(keys.keys().next().value!)
  keys.set(secret, made)
  return made
}

/**
 * `webhook-signature` (Standard Webhooks 1.0): one signature for each secret that counts, so that during a rotation
 * receivers that know only one of them accept it.
 */
export function standardSignature(secrets: readonly string[], { id, timestamp, body }: Signed): string {
  const signable = new Signable(body)
  const sign = (secret: string) =>
    `v1,${signable.hmac(keysOf(secret).standard, `${id}.${timestamp}.`, 'base64')}`
  return secrets.map(sign).join(' ')
}

/** `x-voucherify-signature`, as existing receivers check it: the key is the secret as it is shown, prefix and all. */
export const voucherifySignature = (secret: string, body: Buffer | string): string =>
  new Signable(typeof body === 'string' ? Buffer.from(body) : body).hmac(keysOf(secret).voucherify, '', 'hex')
