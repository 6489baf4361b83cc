import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import fc from '../../test/properties.ts'
import { digestOf, last4, newCredential, newId, randomBytes, routingOf, sameDigest } from './secrets.ts'

const ROUTING = 'Ab3dEf6hIj9lMn0p'

describe('a credential', () => {
  test('has a prefix, a routing part, 256 random bits and a checksum, and needs no escaping', () => {
    for (let i = 0; i < 200; i++) {
      expect(newCredential(randomBytes, 'jtn_', ROUTING)).toMatch(
        /^jtn_Ab3dEf6hIj9lMn0p[\w-]{43}[0-9A-Za-z]{6}$/,
      )
      expect(newCredential(randomBytes, 'jta_')).toMatch(/^jta_[\w-]{43}[0-9A-Za-z]{6}$/)
    }
  })

  test('contains exactly the given random bytes', () => {
    const bytes = Buffer.from(Array.from({ length: 32 }, (_, i) => i * 7))
    const credential = newCredential(() => bytes, 'jta_')
    expect(Buffer.from(credential.slice(4, 47), 'base64url').equals(bytes)).toBe(true)
  })

  test('contains its routing part', () => {
    expect(routingOf(newCredential(randomBytes, 'jtn_', ROUTING), 'jtn_', 16)).toBe(ROUTING)
    expect(routingOf(newCredential(randomBytes, 'jta_'), 'jta_', 0)).toBe('')
  })

  test('is not well-formed after any character was changed', () => {
    const credential = newCredential(randomBytes, 'jtn_', ROUTING)
    for (let i = 0; i < credential.length; i++) {
      const other = credential[i] === 'x' ? 'y' : 'x'
      expect(routingOf(credential.slice(0, i) + other + credential.slice(i + 1), 'jtn_', 16)).toBeNull()
    }
  })

  test('is not well-formed if shortened, extended or of another kind, nor is any other text', () => {
    const credential = newCredential(randomBytes, 'jtn_', ROUTING)
    for (const text of [
      credential.slice(1),
      credential.slice(0, -1),
      credential + 'a',
      ` ${credential}`,
      `${credential}\n`,
    ])
      expect(routingOf(text, 'jtn_', 16)).toBeNull()
    expect(routingOf(credential, 'jta_', 16)).toBeNull()
    expect(routingOf(credential, 'jtn_', 15)).toBeNull()
    fc.assert(
      fc.property(
        fc.string({ maxLength: 80, unit: 'binary' }),
        (text) => routingOf(text, 'jtn_', 16) === null,
      ),
    )
  })

  test('is unique', () => {
    const made = new Set(Array.from({ length: 20_000 }, () => newCredential(randomBytes, 'jtn_')))
    expect(made.size).toBe(20_000)
  })
})

describe('an id', () => {
  test('is a prefix and sixteen uniformly distributed letters and digits', () => {
    const counts = new Map<string, number>()
    const total = 20_000
    for (let i = 0; i < total; i++) {
      const id = newId(randomBytes, 'key_')
      expect(id).toMatch(/^key_[0-9A-Za-z]{16}$/)
      for (const letter of id.slice(4)) counts.set(letter, (counts.get(letter) ?? 0) + 1)
    }
    const expected = (total * 16) / 62
    expect(counts.size).toBe(62)
    // Five standard deviations are 7 %. Taking every byte modulo 62 would put the first letters 21 % above.
    for (const count of counts.values()) expect(Math.abs(count - expected) / expected).toBeLessThan(0.08)
  })

  test('rejects bytes that would favour some letters', () => {
    const draws = [Buffer.alloc(20, 255), Buffer.alloc(20, 248), Buffer.alloc(20, 61)]
    expect(newId(() => draws.shift()!, 'x_')).toBe('x_' + 'z'.repeat(16))
  })
})

describe('random bytes', () => {
  test('are never changed or returned twice', () => {
    const drawn = Array.from({ length: 3_000 }, () => randomBytes(32))
    const before = drawn.map((bytes) => bytes.toString('hex'))
    for (let i = 0; i < 3_000; i++) randomBytes(100)
    expect(drawn.map((bytes) => bytes.toString('hex'))).toEqual(before)
    expect(new Set(before).size).toBe(3_000)
  })

  test.each([0, 1, 16 * 1024, 16 * 1024 + 1, 100_000])('have the requested length (%d)', (size) => {
    expect(randomBytes(size)).toHaveLength(size)
  })
})

describe('a digest', () => {
  test('is the SHA-256 of the secret', () => {
    expect(digestOf('abc').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    )
    expect(digestOf('é').equals(createHash('sha256').update(Buffer.from('é', 'utf8')).digest())).toBe(true)
  })

  test('equals only itself, and other lengths are not an error', () => {
    const [a, b] = [digestOf('a'), digestOf('b')]
    expect([
      sameDigest(a, new Uint8Array(a)),
      sameDigest(a, b),
      sameDigest(a, a.subarray(1)),
      sameDigest(a, new Uint8Array()),
    ]).toEqual([true, false, false, false])
  })

  test('a secret is recognised by its last four characters', () => expect(last4('jta_abcdef')).toBe('cdef'))
})
