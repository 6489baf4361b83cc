import { bodyVariants, damageOf } from './body-variants.ts'
import type { Judgement, Ladder } from './ladder.ts'
import { type Asked, HEX, PLATFORM, platformSignatureOf, SIGNATURE } from './signatures.ts'
import { misspelt, SECRET_REMEDY } from './signing-secret.ts'

/** Existing receivers of the platform check this header alone. */
export function judgePlatform(ladder: Ladder, asked: Asked): Judgement {
  const { headers, body } = asked.request
  const value = headers.get(PLATFORM)!
  ladder.passed(`${PLATFORM} is there; the three headers of Standard Webhooks are not`)
  if (!HEX.test(value))
    return ladder.failed(
      'malformed_header',
      `${PLATFORM} is not 64 hexadecimal digits${value.startsWith('v1,') ? `: it holds what belongs into ${SIGNATURE}` : ''}`,
      'Pass it on as it came.',
    )
  if (value.toLowerCase() === platformSignatureOf(asked.secret, body)) {
    ladder.passed(`${PLATFORM} fits. It covers no time: check ${SIGNATURE} to refuse what is sent again`)
    return ladder.fits()
  }
  return whyNotPlatform(ladder, asked, value)
}

function whyNotPlatform(ladder: Ladder, { request, secret }: Asked, value: string): Judgement {
  const variant = bodyVariants(request.body).find(
    (one) => platformSignatureOf(secret, String(one.body)) === value.toLowerCase(),
  )
  if (variant)
    return ladder.failed(
      'body_changed',
      `the body was changed: the signature fits the body ${variant.says}`,
      `${variant.why} Check the bytes as they came, before anything parses them.`,
    )
  const wrong = misspelt(secret)
  if (wrong) return ladder.failed('malformed_secret', wrong, SECRET_REMEDY)
  const damage = damageOf(request.body, request.headers.get('content-length'))
  return damage
    ? ladder.failed(
        'body_changed',
        `${PLATFORM} does not fit, and the body is not as it was sent: ${damage}`,
        'Check the bytes as they came, before anything parses them.',
      )
    : ladder.failed(
        'wrong_secret',
        `${PLATFORM} was made with another secret, or a value in the body was changed`,
        'Its key is the whole secret as it is shown, whsec_ included. After a rotation it is the new one at once.',
      )
}
