import { describe, expect, test } from 'vitest'
import fc from '../../../test/properties.ts'
import { TestClock } from '../../../test/test-clock.ts'
import { Problem } from '../../contract/problem.ts'
import { addressGroup, normalizeIp } from '../addresses.ts'
import { LoginThrottle } from './login-throttle.ts'

const wrong = new Problem('unauthorized', { message: 'wrong', refusal: { step: 'secret_wrong' } })

function throttle() {
  const clock = new TestClock()
  const attempts = new LoginThrottle(clock)
  const keys = (address: string | null, ids: readonly string[]) =>
    ids.map((id) => attempts.recordFailure(address, id, wrong).key)
  const countWrong = (address: string | null, ids: readonly string[]) =>
    keys(address, ids).filter((key) => key === 'unauthorized').length
  return { clock, attempts, countWrong }
}

const same = (count: number, id = 'id') => new Array<string>(count).fill(id)
const distinct = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `id-${from + i}`)

describe('wrong credentials', () => {
  test('20 wrong attempts per minute with one id get the usual error, and the 21st gets 429 with the time to wait', () => {
    const { countWrong, attempts } = throttle()
    expect(countWrong('192.0.2.1', same(20))).toBe(20)
    const refused = attempts.recordFailure('192.0.2.1', 'id', wrong)
    expect([refused.key, refused.status, refused.headers['retry-after']]).toEqual([
      'too_many_attempts',
      429,
      '60',
    ])
    expect(refused.refusal).toEqual({ step: 'secret_wrong' })
  })

  test('200 wrong attempts per minute from one address get the usual error, for any ids', () => {
    const { countWrong } = throttle()
    expect(countWrong('192.0.2.1', distinct(300))).toBe(200)
  })

  test('wrong attempts with one id or address do not count for another', () => {
    const { countWrong } = throttle()
    countWrong('192.0.2.1', same(50))
    expect(countWrong('192.0.2.1', same(20, 'other'))).toBe(20)
    expect(countWrong('192.0.2.2', same(20))).toBe(20)
  })

  test('the count of wrong attempts restarts after a minute, and Retry-After is the time that is left', async () => {
    const { clock, attempts, countWrong } = throttle()
    countWrong('192.0.2.1', same(20))
    await clock.advance(59_001)
    expect(attempts.recordFailure('192.0.2.1', 'id', wrong).headers['retry-after']).toBe('1')
    await clock.advance(999)
    expect(countWrong('192.0.2.1', same(21))).toBe(20)
  })

  test('wrong attempts are counted by the monotonic clock, so that a change of the system time does not reset them', () => {
    const { clock, countWrong } = throttle()
    countWrong('192.0.2.1', same(20))
    clock.setNow(clock.now() + 3_600_000)
    expect(countWrong('192.0.2.1', same(1))).toBe(0)
  })

  test('one address cannot push its own count or the counts of others out of memory', () => {
    const { countWrong } = throttle()
    countWrong('192.0.2.9', same(20, 'victim'))
    expect(countWrong('192.0.2.1', distinct(100_000))).toBe(200)
    expect(countWrong('192.0.2.1', ['one-more'])).toBe(0)
    expect(countWrong('192.0.2.9', ['victim'])).toBe(0)
  })

  test('wrong attempts from very many addresses take a bounded amount of memory: the oldest are forgotten first', () => {
    const { countWrong } = throttle()
    countWrong('192.0.2.1', same(20))
    for (let i = 0; i < 10_000; i++) countWrong(`10.0.${i >> 8}.${i & 255}`, ['id'])
    expect(countWrong('192.0.2.1', same(20))).toBe(20)
    expect(countWrong('10.0.39.15', same(20))).toBe(19)
  })

  test('wrong attempts from unknown addresses count together', () => {
    const { countWrong } = throttle()
    expect(countWrong(null, same(25))).toBe(20)
  })
})

describe('an IPv6 client', () => {
  test('an IPv6 client is counted by its /64, in any spelling', () => {
    const part = fc.nat(0xffff).map((n) => n.toString(16))
    const parts = (length: number) => fc.array(part, { minLength: length, maxLength: length })
    const text = (all: string[]) => normalizeIp(all.join(':'))!
    fc.assert(
      fc.property(parts(4), parts(4), parts(4), (network, host, otherHost) => {
        fc.pre(addressIsV6(text([...network, ...host])) && addressIsV6(text([...network, ...otherHost])))
        expect(addressGroup(text([...network, ...host]))).toBe(addressGroup(text([...network, ...otherHost])))
        expect(addressGroup(text([...network, ...host]))).toBe(`${network.join(':')}::/64`)
      }),
    )
  })

  test.each([
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4::/64'],
    ['1::8', '1:0:0:0::/64'],
    ['192.0.2.1', '192.0.2.1'],
  ])('%s belongs to %s', (address, group) => expect(addressGroup(address)).toBe(group))

  const addressIsV6 = (address: string) => address.includes(':')
})
