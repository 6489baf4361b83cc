import { CREDENTIAL_PREFIX, WEBHOOK_SECRET_PREFIX } from '../../contract/ids.ts'

/** Padded, as Standard Webhooks has it, and between 24 and 64 bytes. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const FEWEST_BYTES = 24
const MOST_BYTES = 64

/** What is wrong with the spelling of a secret; undefined where nothing is. */
export function misspelt(secret: string): string | undefined {
  if (secret !== secret.trim()) return 'the secret has white space around it'
  const credential = Object.entries(CREDENTIAL_PREFIX).find(([, prefix]) => secret.startsWith(prefix))
  if (credential)
    return `this is ${credential[0].replace('_', ' ')} (${credential[1]}…), not a signing secret`
  if (!secret.startsWith(WEBHOOK_SECRET_PREFIX))
    return `the secret does not begin with ${WEBHOOK_SECRET_PREFIX}`
  const rest = secret.slice(WEBHOOK_SECRET_PREFIX.length)
  if (!BASE64.test(rest)) return `what follows ${WEBHOOK_SECRET_PREFIX} is not base64: is it cut off?`
  const { length } = Buffer.from(rest, 'base64')
  return length < FEWEST_BYTES || length > MOST_BYTES
    ? `a secret has ${FEWEST_BYTES} to ${MOST_BYTES} bytes and this has ${length}: is it whole?`
    : undefined
}

/** As it was probably meant. */
export const mended = (secret: string): string =>
  secret.trim().replace(new RegExp(`^(?!${WEBHOOK_SECRET_PREFIX})`), WEBHOOK_SECRET_PREFIX)

export const SECRET_REMEDY = `Take it whole, as it was shown when the webhook was made (${WEBHOOK_SECRET_PREFIX}…). Lost? jeton webhook rotate makes a new one; jeton webhook list names the webhooks.`
