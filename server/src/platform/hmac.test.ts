import { createHmac, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { hmacKey, Signable } from './hmac.ts'

const BEFORE = ['', 'a', 'msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.', 'x'.repeat(192)]
const LENGTHS = [0, 1, 55, 56, 63, 64, 65, 1_700, 16_383, 16_384, 16_385, 200_000]

test('it is what OpenSSL makes of the same, for keys and bodies of every kind of length', () => {
  for (const key of [0, 1, 33, 50, 63, 64, 65, 500].map((length) => randomBytes(length)))
    for (const body of LENGTHS.map((length) => randomBytes(length)))
      for (const before of BEFORE)
        for (const encoding of ['hex', 'base64'] as const)
          expect(new Signable(body).hmac(hmacKey(key), before, encoding)).toBe(
            createHmac('sha256', key).update(before).update(body).digest(encoding),
          )
})

test('one body is signed with several keys, and a key signs one body after the other', () => {
  const [one, two] = [randomBytes(33), randomBytes(50)]
  const [first, second] = [hmacKey(one), hmacKey(two)]
  for (const body of ['{"a":1}', '{"a":22}', '{}'].map((text) => Buffer.from(text))) {
    const signable = new Signable(body)
    const signed = [signable.hmac(first, 'id.7.', 'hex'), signable.hmac(second, '', 'hex')]
    expect(signed).toEqual([
      createHmac('sha256', one).update('id.7.').update(body).digest('hex'),
      createHmac('sha256', two).update(body).digest('hex'),
    ])
  }
})

test('what would not fit before the body is refused', () => {
  expect(() =>
    new Signable(Buffer.from('{}')).hmac(hmacKey(Buffer.from('k')), 'x'.repeat(193), 'hex'),
  ).toThrow(RangeError)
})
