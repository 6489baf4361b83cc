import { describe, expect, test } from 'vitest'
import fc from '../../test/properties.ts'
import { addressMatcher, isLoopbackHost, normalizeIp, parseRange } from './addresses.ts'

describe('a plain address', () => {
  test.each([
    ['10.0.0.4', '10.0.0.4'],
    ['::ffff:10.0.0.4', '10.0.0.4'],
    ['::FFFF:10.0.0.4', '10.0.0.4'],
    ['::ffff:0a00:0004', '10.0.0.4'],
    ['0:0:0:0:0:ffff:10.0.0.4', '10.0.0.4'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::ffff:10.0.0.4%eth0', '10.0.0.4'],
    // IPv4-compatible and translated addresses are not IPv4-mapped ones.
    ['::10.0.0.4', '::a00:4'],
    ['::ffff:0:10.0.0.4', '::ffff:0:a00:4'],
  ])('of %s is %s', (text, plain) => expect(normalizeIp(text)).toBe(plain))

  test.each([
    '',
    ' ',
    'localhost',
    '10.0.0',
    '10.0.0.256',
    '010.0.0.4',
    '10.0.0.4:80',
    '[::1]',
    '::1%',
    '10.0.0.4%eth0',
    '1.2.3.4%',
    ':::',
    '10.0.0.4/8',
    'unknown',
    '::ffff:1.2.3',
    '0x7f.1',
    '2130706433',
  ])('of %j is null', (text) => expect(normalizeIp(text)).toBeNull())

  test('is its own plain address, for every address', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
        const plain = normalizeIp(address)!
        expect(normalizeIp(plain)).toBe(plain)
      }),
    )
  })
})

describe('a range', () => {
  test.each([
    ['10.0.0.4', { address: '10.0.0.4', family: 'ipv4', bits: 32 }],
    ['0.0.0.0/0', { address: '0.0.0.0', family: 'ipv4', bits: 0 }],
    ['2001:db8::/32', { address: '2001:db8::', family: 'ipv6', bits: 32 }],
    ['::1', { address: '::1', family: 'ipv6', bits: 128 }],
    ['::ffff:10.0.0.0/104', { address: '10.0.0.0', family: 'ipv4', bits: 8 }],
    ['::ffff:10.0.0.4', { address: '10.0.0.4', family: 'ipv4', bits: 32 }],
  ])('is read from %s', (text, range) => expect(parseRange(text)).toEqual(range))

  test.each([
    '',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '/8',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/ 8',
    ' 10.0.0.0',
    '10.0.0.0/8.0',
    'fe80::1%eth0',
    '::ffff:10.0.0.0/95',
    '10.0.0.*',
    '10.0.0.1-10.0.0.9',
    'example.com',
    '10.0.0.0/1000',
  ])('is not read from %j', (text) => expect(parseRange(text)).toBeNull())
})

describe('a matcher', () => {
  test('matches the whole range and nothing else', () => {
    const inside = addressMatcher(['10.1.0.0/16', '192.0.2.7', '2001:db8::/33'])
    const yes = ['10.1.0.0', '10.1.255.255', '192.0.2.7', '2001:db8::', '2001:db8:7fff:ffff::1']
    const no = [
      '10.0.255.255',
      '10.2.0.0',
      '192.0.2.6',
      '192.0.2.8',
      '2001:db8:8000::',
      '2001:db7::',
      'nonsense',
      '',
    ]
    expect(yes.filter((address) => !inside(address))).toEqual([])
    expect(no.filter(inside)).toEqual([])
  })

  test('ignores host bits in a range', () => {
    expect(addressMatcher(['10.1.2.3/8'])('10.200.0.1')).toBe(true)
  })

  test('with all addresses of one family matches none of the other', () => {
    expect([addressMatcher(['::/0'])('10.0.0.1'), addressMatcher(['0.0.0.0/0'])('2001:db8::1')]).toEqual([
      false,
      false,
    ])
    expect([addressMatcher(['0.0.0.0/0'])('10.0.0.1'), addressMatcher(['::/0'])('2001:db8::1')]).toEqual([
      true,
      true,
    ])
  })

  test('of an empty list matches nothing', () => {
    expect([addressMatcher([])('10.0.0.1'), addressMatcher([])('::1')]).toEqual([false, false])
  })

  test('rejects an invalid range and names it', () => {
    expect(() => addressMatcher(['10.0.0.1', 'nonsense'])).toThrow('nonsense is not an address or range')
  })

  test('agrees with arithmetic on every IPv4 address and length', () => {
    const number = (address: string) => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 }), (base, address, bits) => {
        const block = 2 ** (32 - bits)
        const same = Math.floor(number(base) / block) === Math.floor(number(address) / block)
        expect(addressMatcher([`${base}/${bits}`])(address)).toBe(same)
      }),
    )
  })

  test('recognises loopback hosts', () => {
    for (const host of ['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1', 'localhost'])
      expect(isLoopbackHost(host)).toBe(true)
    for (const host of ['128.0.0.1', '::2', '0.0.0.0', '::', '', 'localhost.example', '127.1'])
      expect(isLoopbackHost(host)).toBe(false)
  })
})
