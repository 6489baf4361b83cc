import { WebhookVerificationError } from './verification-error.ts'

const SECRET = /^whsec_([A-Za-z0-9+/]{20,}={0,2})$/

const utf8 = new TextEncoder()

/** Names what was passed instead of a webhook secret, without repeating it. */
function otherKind(secret: string): string {
  const kinds = { jta_: 'an app token', jtm_: 'a management token', jtn_: 'an access token' }
  const kind = kinds[secret.slice(0, 4) as keyof typeof kinds] ?? 'no secret of a webhook'
  return `This is ${kind}. The secret of a webhook starts with "whsec_".`
}

/** Decodes a secret of Standard Webhooks. */
function keyOf(secret: unknown): Uint8Array<ArrayBuffer> {
  const [, base64] = SECRET.exec(String(secret)) ?? []
  try {
    if (base64 !== undefined) return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    // Its length is wrong.
  }
  throw new WebhookVerificationError('secret_of_another_kind', otherKind(String(secret)))
}

/** Throws if a secret cannot be one of a webhook. */
export function readSecrets(secret: string | readonly string[]): readonly Uint8Array<ArrayBuffer>[] {
  const keys = [secret].flat().map(keyOf)
  if (keys.length === 0) throw new WebhookVerificationError('secret_of_another_kind', 'No secret was passed.')
  return keys
}

export interface SignedContent {
  readonly id: string
  readonly timestamp: string
  readonly body: Uint8Array
}

/** HMAC-SHA256 over id, time and body. */
export async function signatureOf(
  key: Uint8Array<ArrayBuffer>,
  { id, timestamp, body }: SignedContent,
): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign'])
  const head = utf8.encode(`${id}.${timestamp}.`)
  const content = new Uint8Array(head.length + body.length)
  content.set(head)
  content.set(body, head.length)
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, content))
}

export const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

/** Takes the same time wherever the texts differ. */
export function isSame(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length && i < b.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}
