import { describe, expect, test } from 'vitest'
import fc from '../../../test/properties.ts'
import { addressMatcher, normalizeIp } from '../addresses.ts'
import { clientAddress } from './client-address.ts'

const isTrusted = addressMatcher(['10.0.0.0/8', 'fd00::/8'])
const address = fc.oneof(fc.ipV4(), fc.ipV6())
const stranger = address.filter((one) => !isTrusted(normalizeIp(one)!))
const proxy = fc.tuple(fc.nat(255), fc.nat(255)).map(([a, b]) => `10.0.${a}.${b}`)
const garbage = fc.string().filter((text) => !text.includes(',') && normalizeIp(text.trim()) === null)
/** Any header that a client may send: addresses, garbage and proxies, in any number. */
const header = fc.array(fc.oneof(address, proxy, garbage)).map((entries) => entries.join(', '))

describe('the client address', () => {
  test('the client address is the peer of the socket if that is not a trusted proxy, regardless of X-Forwarded-For', () => {
    fc.assert(
      fc.property(stranger, fc.option(header), (socket, forwarded) => {
        expect(clientAddress(socket, forwarded ?? undefined, isTrusted).ip).toBe(normalizeIp(socket))
      }),
    )
  })

  test('the client address is the right-most entry that is not a trusted proxy, regardless of the entries before it', () => {
    fc.assert(
      fc.property(proxy, header, stranger, fc.array(proxy), (socket, spoofed, caller, chain) => {
        const forwarded = [spoofed, caller, ...chain].join(', ')
        expect(clientAddress(socket, forwarded, isTrusted).ip).toBe(normalizeIp(caller))
      }),
    )
  })

  test('the client address is unknown if that entry is not an address, even if there are addresses before it', () => {
    fc.assert(
      fc.property(proxy, header, garbage, fc.array(proxy), (socket, spoofed, junk, chain) => {
        const forwarded = [spoofed, junk, ...chain].join(',')
        expect(clientAddress(socket, forwarded, isTrusted).ip).toBeNull()
      }),
    )
  })

  test('the client address is the left-most entry if every entry is a trusted proxy, and the peer without the header', () => {
    expect(clientAddress('10.0.0.1', '10.0.0.3, 10.0.0.2', isTrusted).ip).toBe('10.0.0.3')
    expect(clientAddress('10.0.0.1', undefined, isTrusted).ip).toBe('10.0.0.1')
  })

  test('the client address is the same for IPv4-mapped addresses, on the socket and in the header', () => {
    fc.assert(
      fc.property(proxy, fc.ipV4(), (socket, caller) => {
        fc.pre(!isTrusted(caller))
        expect(clientAddress(`::ffff:${socket}`, `::ffff:${caller}`, isTrusted).ip).toBe(caller)
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
  ])('the client address is unknown for X-Forwarded-For: %s', (forwarded) =>
    expect(clientAddress('10.0.0.1', forwarded, isTrusted).ip).toBeNull(),
  )

  test('several X-Forwarded-For headers count as one, in their order', () => {
    expect(clientAddress('10.0.0.1', ['198.51.100.1', '203.0.113.7, 10.0.0.9'], isTrusted).ip).toBe(
      '203.0.113.7',
    )
  })

  test('the client address is unknown without a peer, and the header is kept for the refusal record', () => {
    expect(clientAddress(undefined, '203.0.113.7', isTrusted)).toEqual({
      ip: null,
      socket: 'unknown',
      forwarded: '203.0.113.7',
    })
    expect(clientAddress('198.51.100.1', 'junk', isTrusted)).toEqual({
      ip: '198.51.100.1',
      socket: '198.51.100.1',
      forwarded: 'junk',
    })
  })
})
