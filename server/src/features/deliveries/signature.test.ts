import { expect, test } from 'vitest'
import { standardSignature, voucherifySignature } from './signature.ts'

test('the Voucherify signature is lowercase hex over the exact body', () => {
  expect(voucherifySignature('secretKey', '{"a":1}')).toBe(
    'a17d2ac229d1ebbb5f10e839c7985c4818e5986eab297f7e5979196d4d7d3ed2',
  )
})

/** Example from the Standard Webhooks specification. */
test('the standard signature is base64 over id, time and body, with the decoded secret', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const signed = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1_614_265_330,
    body: Buffer.from('{"test": 2432232314}'),
  }
  const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
  expect(standardSignature([secret], signed)).toBe(signature)
  expect(standardSignature(['whsec_AAAA', secret], signed).split(' ')).toEqual([
    standardSignature(['whsec_AAAA'], signed),
    signature,
  ])
})
