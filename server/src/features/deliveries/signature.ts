import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { WEBHOOK_SECRET_PREFIX } from '../../contract/ids.ts'

/** What is signed: the delivery's id, the time in seconds, and the body, byte for byte. */
interface Signed {
  readonly id: string
  readonly timestamp: number
  readonly body: Buffer
}

/** For about a thousand destinations in rotation. Making a key costs four times as much as signing with it. */
const KEYS_KEPT = 2_000
interface Keys {
  readonly standard: KeyObject
  readonly voucherify: KeyObject
}
const keys = new Map<string, Keys>()

function keysOf(secret: string): Keys {
  const known = keys.get(secret)
  if (known) return known
  const made = {
    standard: createSecretKey(secret.slice(WEBHOOK_SECRET_PREFIX.length), 'base64'),
    voucherify: createSecretKey(secret, 'utf8'),
  }
  if (keys.size >= KEYS_KEPT) keys.delete(keys.keys().next().value!)
  keys.set(secret, made)
  return made
}

const sign = (secret: string, { id, timestamp, body }: Signed): string =>
  createHmac('sha256', keysOf(secret).standard).update(`${id}.${timestamp}.`).update(body).digest('base64')

/**
 * `webhook-signature` (Standard Webhooks 1.0): one signature for each secret that counts, so that during a rotation
 * receivers that know only one of them accept it.
 */
export const standardSignature = (secrets: readonly string[], signed: Signed): string =>
  secrets.map((secret) => `v1,${sign(secret, signed)}`).join(' ')

/** `x-voucherify-signature`, as existing receivers check it: the key is the secret as it is shown, prefix and all. */
export const voucherifySignature = (secret: string, body: Buffer | string): string =>
  createHmac('sha256', keysOf(secret).voucherify).update(body).digest('hex')
