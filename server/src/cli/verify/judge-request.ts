import { WEBHOOK_SECRET_PREFIX } from '../../contract/ids.ts'
import { ago, span } from '../cells.ts'
import { bodyVariants, damageOf, idIn } from './body-variants.ts'
import { judgePlatform } from './judge-platform.ts'
import { type Judgement, Ladder } from './ladder.ts'
import { wrongSignature, wrongTimestamp } from './malformed-headers.ts'
import {
  type Asked,
  ID,
  knownEntriesOf,
  PLATFORM,
  placeOf,
  platformSignatureOf,
  SIGNATURE,
  TIMESTAMP,
} from './signatures.ts'
import { mended, misspelt, SECRET_REMEDY } from './signing-secret.ts'

/** Whether a request was signed with a secret and came unchanged; and if not, which of the reasons it is. */
export function judgeRequest(asked: Asked): Judgement {
  const ladder = new Ladder()
  const { headers } = asked.request
  const present = [ID, TIMESTAMP, SIGNATURE].filter((name) => headers.has(name))
  if (present.length === 0 && headers.has(PLATFORM)) return judgePlatform(ladder, asked)
  return judgeHeaders(ladder, asked) ?? judgeSecret(ladder, asked) ?? judgeSignature(ladder, asked)
}

function judgeSecret(ladder: Ladder, asked: Asked): Judgement | undefined {
  const wrong = misspelt(asked.secret)
  if (wrong === undefined) return void ladder.passed('the secret is spelt as it should be')
  const secret = mended(asked.secret)
  const fits = misspelt(secret) === undefined && placeOf(asked, { secret }) >= 0
  return ladder.failed(
    'malformed_secret',
    wrong,
    fits ? `Spelt ${WEBHOOK_SECRET_PREFIX}… without white space it fits.` : SECRET_REMEDY,
  )
}

function judgeHeaders(ladder: Ladder, { request: { headers } }: Asked): Judgement | undefined {
  const missing = [ID, TIMESTAMP, SIGNATURE].filter((name) => !headers.get(name))
  if (missing.length > 0)
    return ladder.failed(
      'missing_header',
      `${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} missing`,
      'Jeton sends all three. A proxy or framework in between drops or renames them, or they were not captured.',
    )
  const wrong = wrongTimestamp(headers.get(TIMESTAMP)!) ?? wrongSignature(headers.get(SIGNATURE)!)
  if (wrong) return ladder.failed('malformed_header', wrong.says, wrong.remedy)
  ladder.passed('the three headers are there and can be read')
  return undefined
}

function judgeSignature(ladder: Ladder, asked: Asked): Judgement {
  const place = placeOf(asked)
  if (place < 0) return whyNot(ladder, asked)
  const count = knownEntriesOf(asked.request.headers.get(SIGNATURE)!).length
  ladder.passed(
    place === 0
      ? 'the signature fits'
      : `signature ${place + 1} of ${count} fits: this is the secret before the last rotation, which stops signing when the overlap ends`,
  )
  return judgePlatformBeside(ladder, asked, place) ?? judgeTime(ladder, asked)
}

function whyNot(ladder: Ladder, asked: Asked): Judgement {
  const { headers, body } = asked.request
  const variant = bodyVariants(body).find((one) => placeOf(asked, { body: one.body }) >= 0)
  if (variant)
    return ladder.failed(
      'body_changed',
      `the body was changed: the signature fits the body ${variant.says}`,
      `${variant.why} Check the bytes as they came, before anything parses them.`,
    )
  const changed = changedHeader(asked)
  if (changed) return ladder.failed('header_changed', changed, 'Pass the headers on as they came.')
  const damage = damageOf(body, headers.get('content-length'))
  if (damage)
    return ladder.failed(
      'body_changed',
      `the signature does not fit, and the body is not as it was sent: ${damage}`,
      'Check the bytes as they came, before anything parses them. If they are those, the secret is another.',
    )
  return wrongSecret(ladder, asked)
}

function changedHeader(asked: Asked): string | undefined {
  const { headers, body } = asked.request
  const id = idIn(body)
  if (id !== undefined && placeOf(asked, { id }) >= 0)
    return `${ID} was changed: the signature fits ${id}, the id in the body`
  // It vouches for secret and body, so the fault is in what it does not cover.
  return headers.get(PLATFORM) === platformSignatureOf(asked.secret, body)
    ? `${PLATFORM} fits, so secret and body are right: ${ID}, ${TIMESTAMP} or ${SIGNATURE} was changed`
    : undefined
}

function wrongSecret(ladder: Ladder, { request: { headers } }: Asked): Judgement {
  const count = knownEntriesOf(headers.get(SIGNATURE)!).length
  const rotation = count > 1 ? ` (${count} signatures: a rotation is going on, and it is neither secret)` : ''
  return ladder.failed(
    'wrong_secret',
    `the signature was made with another secret${rotation}, or a value in the body was changed`,
    'Each webhook has a secret of its own: compare its last four characters with secret_last4 of: jeton webhook list --json',
  )
}

/** Where both headers came; the platform's is made with the newest secret only. */
function judgePlatformBeside(
  ladder: Ladder,
  { request, secret }: Asked,
  place: number,
): Judgement | undefined {
  const value = request.headers.get(PLATFORM)
  if (value === undefined || place > 0) return undefined
  if (value === platformSignatureOf(secret, request.body))
    return void ladder.passed(`${PLATFORM} fits as well`)
  return ladder.failed(
    'header_changed',
    `${PLATFORM} does not fit, though ${SIGNATURE} does: it was changed`,
    `Pass ${PLATFORM} on as it came. Who checks ${SIGNATURE} need not look at it.`,
  )
}

function judgeTime(ladder: Ladder, { request, now, toleranceMs }: Asked): Judgement {
  const at = Number(request.headers.get(TIMESTAMP)) * 1000
  const tolerance = span(toleranceMs)
  if (Math.abs(now - at) <= toleranceMs) {
    ladder.passed(`signed ${ago(at, now)}, within ${tolerance}`)
    return ladder.fits()
  }
  return at < now
    ? ladder.failed(
        'timestamp',
        `it was signed ${ago(at, now)}, more than ${tolerance} before now`,
        'If it was captured then, all is well: say --tolerance 30d. If it has just come, the clock of this machine is ahead, or it is an old request that someone sends again.',
      )
    : ladder.failed(
        'timestamp',
        `it was signed ${span(at - now)} after now, more than ${tolerance}`,
        'The clock of this machine, or that of the server, is wrong. Compare: date -u',
      )
}
