import { WEBHOOK_SECRET_PREFIX } from '../../contract/ids.ts'
import { ago, span } from '../format.ts'
import { bodyVariants, damageOf, idIn } from './captured-request.ts'
import {
  HEX,
  ID,
  knownEntriesOf,
  normalized,
  PLATFORM,
  platformSignatureOf,
  SECRET_REMEDY,
  SIGNATURE,
  type SignatureCheck,
  secretProblem,
  signatureIndex,
  signatureProblem,
  TIMESTAMP,
  timestampProblem,
} from './signatures.ts'

/** Why a signature does not match. */
export type Reason =
  | 'missing_header'
  | 'malformed_header'
  | 'malformed_secret'
  | 'wrong_secret'
  | 'body_changed'
  | 'header_changed'
  | 'timestamp'

export interface Step {
  readonly passed: boolean
  readonly says: string
}

export interface Verdict {
  readonly fits: boolean
  /** Null if the signature matches. */
  readonly reason: Reason | null
  readonly steps: readonly Step[]
  readonly remedy: string | null
}

/** Collects the steps of a check and ends in a verdict. */
class Steps {
  readonly #steps: Step[] = []

  passed(says: string): void {
    this.#steps.push({ passed: true, says })
  }

  failed(reason: Reason, says: string, remedy: string): Verdict {
    return { fits: false, reason, steps: [...this.#steps, { passed: false, says }], remedy }
  }

  fits(): Verdict {
    return { fits: true, reason: null, steps: this.#steps, remedy: null }
  }
}

/** Checks whether a request was signed with a secret and arrived unchanged; if not, finds the reason. */
export function checkSignature(check: SignatureCheck): Verdict {
  const steps = new Steps()
  const { headers } = check.request
  const present = [ID, TIMESTAMP, SIGNATURE].filter((name) => headers.has(name))
  if (present.length === 0 && headers.has(PLATFORM)) return checkPlatformOnly(steps, check)
  return checkHeaders(steps, check) ?? checkSecret(steps, check) ?? findSignature(steps, check)
}

const RAW_BYTES = 'Check the raw bytes, before anything parses them.'

function checkSecret(steps: Steps, check: SignatureCheck): Verdict | undefined {
  const wrong = secretProblem(check.secret)
  if (wrong === undefined) return void steps.passed('the secret is well-formed')
  const secret = normalized(check.secret)
  const fits = secretProblem(secret) === undefined && signatureIndex(check, { secret }) >= 0
  return steps.failed(
    'malformed_secret',
    wrong,
    fits ? `Written as ${WEBHOOK_SECRET_PREFIX}… without white space, it matches.` : SECRET_REMEDY,
  )
}

function checkHeaders(steps: Steps, { request: { headers } }: SignatureCheck): Verdict | undefined {
  const missing = [ID, TIMESTAMP, SIGNATURE].filter((name) => !headers.get(name))
  if (missing.length > 0)
    return steps.failed(
      'missing_header',
      `${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} missing`,
      'Jeton sends all three. A proxy or framework in between removes or renames them, or they were not captured.',
    )
  const wrong = timestampProblem(headers.get(TIMESTAMP)!) ?? signatureProblem(headers.get(SIGNATURE)!)
  if (wrong) return steps.failed('malformed_header', wrong.says, wrong.remedy)
  steps.passed('the three headers are present and well-formed')
  return undefined
}

function findSignature(steps: Steps, check: SignatureCheck): Verdict {
  const index = signatureIndex(check)
  if (index < 0) return explainMismatch(steps, check)
  const count = knownEntriesOf(check.request.headers.get(SIGNATURE)!).length
  steps.passed(
    index === 0
      ? 'the signature matches'
      : `signature ${index + 1} of ${count} matches: this is the secret before the last rotation, which stops signing when the overlap ends`,
  )
  return checkPlatformHeader(steps, check, index) ?? checkTime(steps, check)
}

function explainMismatch(steps: Steps, check: SignatureCheck): Verdict {
  const { headers, body } = check.request
  const variant = bodyVariants(body).find((one) => signatureIndex(check, { body: one.body }) >= 0)
  if (variant)
    return steps.failed(
      'body_changed',
      `the body was changed: the signature matches the body ${variant.says}`,
      `${variant.why} ${RAW_BYTES}`,
    )
  const changed = changedHeader(check)
  if (changed) return steps.failed('header_changed', changed, 'Pass the headers on unchanged.')
  const damage = damageOf(body, headers.get('content-length'))
  if (damage)
    return steps.failed(
      'body_changed',
      `the signature does not match, and the body was changed: ${damage}`,
      `${RAW_BYTES} If you do, the secret is wrong.`,
    )
  return wrongSecret(steps, check)
}

function changedHeader(check: SignatureCheck): string | undefined {
  const { headers, body } = check.request
  const id = idIn(body)
  if (id !== undefined && signatureIndex(check, { id }) >= 0)
    return `${ID} was changed: the signature matches ${id}, the id in the body`
  // This header covers secret and body, so a part that it does not cover was changed.
  return headers.get(PLATFORM) === platformSignatureOf(check.secret, body)
    ? `${PLATFORM} matches, so secret and body are right: ${ID}, ${TIMESTAMP} or ${SIGNATURE} was changed`
    : undefined
}

function wrongSecret(steps: Steps, { request: { headers } }: SignatureCheck): Verdict {
  const count = knownEntriesOf(headers.get(SIGNATURE)!).length
  const rotation =
    count > 1 ? ` (${count} signatures: a rotation is in progress, and it is neither secret)` : ''
  return steps.failed(
    'wrong_secret',
    `the signature was made with another secret${rotation}, or a value in the body was changed`,
    'Each webhook has its own secret. Compare the last four characters with secret_last4 in: jeton webhook list --json',
  )
}

/** Checks Voucherify's header in addition. It is signed with the newest secret only. */
function checkPlatformHeader(
  steps: Steps,
  { request, secret }: SignatureCheck,
  index: number,
): Verdict | undefined {
  const value = request.headers.get(PLATFORM)
  if (value === undefined || index > 0) return undefined
  if (value === platformSignatureOf(secret, request.body))
    return void steps.passed(`${PLATFORM} matches as well`)
  return steps.failed(
    'header_changed',
    `${PLATFORM} does not match, though ${SIGNATURE} does: it was changed`,
    `Pass ${PLATFORM} on unchanged. A receiver that checks ${SIGNATURE} can ignore it.`,
  )
}

function checkTime(steps: Steps, { request, now, toleranceMs }: SignatureCheck): Verdict {
  const at = Number(request.headers.get(TIMESTAMP)) * 1000
  const tolerance = span(toleranceMs)
  if (Math.abs(now - at) <= toleranceMs) {
    steps.passed(`signed ${ago(at, now)}, within ${tolerance}`)
    return steps.fits()
  }
  return at < now
    ? steps.failed(
        'timestamp',
        `it was signed ${ago(at, now)}, more than ${tolerance} before now`,
        'If it was captured then, this is fine: pass --tolerance 30d. If it has just arrived, the clock of this machine is ahead, or someone replays an old request.',
      )
    : steps.failed(
        'timestamp',
        `it was signed ${span(at - now)} after now, more than ${tolerance}`,
        'The clock of this machine or of the server is wrong. Compare: date -u',
      )
}

/** Checks Voucherify's header alone, like existing receivers. */
function checkPlatformOnly(steps: Steps, check: SignatureCheck): Verdict {
  const { headers, body } = check.request
  const value = headers.get(PLATFORM)!
  steps.passed(`${PLATFORM} is present; the three headers of Standard Webhooks are not`)
  if (!HEX.test(value))
    return steps.failed(
      'malformed_header',
      `${PLATFORM} is not 64 hexadecimal digits${value.startsWith('v1,') ? `: it has the value of ${SIGNATURE}` : ''}`,
      'Pass it on unchanged.',
    )
  if (value.toLowerCase() === platformSignatureOf(check.secret, body)) {
    steps.passed(`${PLATFORM} matches. It covers no timestamp: check ${SIGNATURE} to reject replays`)
    return steps.fits()
  }
  return explainPlatformMismatch(steps, check, value)
}

function explainPlatformMismatch(steps: Steps, { request, secret }: SignatureCheck, value: string): Verdict {
  const variant = bodyVariants(request.body).find(
    (one) => platformSignatureOf(secret, String(one.body)) === value.toLowerCase(),
  )
  if (variant)
    return steps.failed(
      'body_changed',
      `the body was changed: the signature matches the body ${variant.says}`,
      `${variant.why} ${RAW_BYTES}`,
    )
  const wrong = secretProblem(secret)
  if (wrong) return steps.failed('malformed_secret', wrong, SECRET_REMEDY)
  const damage = damageOf(request.body, request.headers.get('content-length'))
  return damage
    ? steps.failed(
        'body_changed',
        `${PLATFORM} does not match, and the body was changed: ${damage}`,
        RAW_BYTES,
      )
    : steps.failed(
        'wrong_secret',
        `${PLATFORM} was made with another secret, or a value in the body was changed`,
        'Its key is the full secret, including whsec_. After a rotation it is the new one immediately.',
      )
}
