import { describe, expect, test } from 'vitest'
import fc from '../../../test/properties.ts'
import { addressMatcher, normalizeIp } from '../addresses.ts'
import { clientAddress } from './client-address.ts'

const isTrusted = addressMatcher(['10.0.0.0/8', 'fd00::/8'])
const address = fc.oneof(fc.ipV4(), fc.ipV6())
const stranger = address.filter((one) => !isTrusted(normalizeIp(one)!))
const proxy = fc.tuple(fc.nat(255), fc.nat(255)).map(([a, b]) => `10.0.${a}.${b}`)
const garbage = fc.string().filter((text) => !text.includes(',') && normalizeIp(text.trim()) === null)
/** Whatever a caller may write: addresses, nonsense, proxies, in any number. */
const header = fc.array(fc.oneof(address, proxy, garbage)).map((entries) => entries.join(', '))

describe("the caller's address", () => {
  test("is the socket's when the peer is not a trusted proxy, whatever X-Forwarded-For says", () => {
    fc.assert(
      fc.property(stranger, fc.option(header), (socket, forwarded) => {
        expect(clientAddress(socket, forwarded ?? undefined, isTrusted).plain).toBe(normalizeIp(socket))
      }),
    )
  })

  test('is the right-most entry that is no trusted proxy, whatever stands to the left of it', () => {
    fc.assert(
      fc.property(proxy, header, stranger, fc.array(proxy), (socket, spoofed, caller, chain) => {
        const forwarded = [spoofed, caller, ...chain].join(', ')
        expect(clientAddress(socket, forwarded, isTrusted).plain).toBe(normalizeIp(caller))
      }),
    )
  })

  test('is unknown when the entry that counts is no address, even if there are addresses to the left of it', () => {
    fc.assert(
      fc.property(proxy, header, garbage, fc.array(proxy), (socket, spoofed, junk, chain) => {
        const forwarded = [spoofed, junk, ...chain].join(',')
        expect(clientAddress(socket, forwarded, isTrusted).plain).toBeNull()
      }),
    )
  })

  test('is where the request began when every entry is a trusted proxy, and the peer when there is no header', () => {
    expect(clientAddress('10.0.0.1', '10.0.0.3, 10.0.0.2', isTrusted).plain).toBe('10.0.0.3')
    expect(clientAddress('10.0.0.1', undefined, isTrusted).plain).toBe('10.0.0.1')
  })

  test('is found the same when addresses are IPv4-mapped, on the socket and in the header', () => {
    fc.assert(
      fc.property(proxy, fc.ipV4(), (socket, caller) => {
        fc.pre(!isTrusted(caller))
        expect(clientAddress(`::ffff:${socket}`, `::ffff:${caller}`, isTrusted).plain).toBe(caller)
      }),
    )
  })

  test.each([
    '',
    ',',
    '203.0.113.7:4711',
    '"203.0.113.7"',
    'for=203.0.113.7',
    '[2001:db8::1]:80',
    '203.0.113.7%eth0',
    '203.0.113.7,',
  ])('is unknown for X-Forwarded-For: %s', (forwarded) =>
    expect(clientAddress('10.0.0.1', forwarded, isTrusted).plain).toBeNull(),
  )

  test('several headers count as one, in their order', () => {
    expect(clientAddress('10.0.0.1', ['198.51.100.1', '203.0.113.7, 10.0.0.9'], isTrusted).plain).toBe(
      '203.0.113.7',
    )
  })

  test('is unknown without a socket address, and both are kept for the record', () => {
    expect(clientAddress(undefined, '203.0.113.7', isTrusted)).toEqual({
      plain: null,
      socket: 'unknown',
      forwarded: '203.0.113.7',
    })
    expect(clientAddress('198.51.100.1', 'junk', isTrusted)).toEqual({
      plain: '198.51.100.1',
      socket: '198.51.100.1',
      forwarded: 'junk',
    })
  })
})
