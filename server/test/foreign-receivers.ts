import { createRequire } from 'node:module'
import OpenAI from 'openai'
import { validateWebhook } from 'replicate'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'

export interface SignedRequest {
  readonly headers: Record<string, string>
  readonly body: string
}

/** Someone who checks requests with code that nobody here wrote; throws or answers false where it does not accept one. */
export type Check = (secret: string, request: SignedRequest) => unknown

const voucherify = createRequire(import.meta.url)('voucherify/utils')

/** `checksTime` where the package itself refuses what was signed long ago. */
export const STANDARD: Record<string, { check: Check; checksTime: boolean }> = {
  standardwebhooks: {
    check: (secret, { body, headers }) => new StandardWebhook(secret).verify(body, headers),
    checksTime: true,
  },
  svix: {
    check: (secret, { body, headers }) => new SvixWebhook(secret).verify(body, headers),
    checksTime: true,
  },
  openai: {
    check: (secret, { body, headers }) =>
      new OpenAI({ apiKey: 'none' }).webhooks.unwrap(body, headers, secret),
    checksTime: true,
  },
  replicate: {
    check: (secret, { body, headers }) =>
      validateWebhook({
        id: headers['webhook-id']!,
        timestamp: headers['webhook-timestamp']!,
        signature: headers['webhook-signature']!,
        body,
        secret,
      }),
    checksTime: false,
  },
}

export const PLATFORM: Record<string, Check> = {
  voucherify: (secret, { body, headers }) =>
    voucherify.webhooks.verifySignature(headers['x-voucherify-signature'], body, secret),
  'voucherify, from the parsed body': (secret, { body, headers }) =>
    voucherify.webhooks.verifySignature(headers['x-voucherify-signature'], JSON.parse(body), secret),
}

export const accepts = async (check: Check, secret: string, request: SignedRequest): Promise<boolean> => {
  try {
    return (await check(secret, request)) !== false
  } catch {
    return false
  }
}
