import { describe, expect, test } from 'vitest'
import fc from '../../../test/properties.ts'
import { tokenIdOf } from '../../contract/ids.ts'
import { newCredential, newId, randomBytes } from '../../platform/secrets.ts'
import {
  cacheKeyOf,
  cacheKeyOfDigest,
  DIGEST_BYTES,
  digestRange,
  expiryOf,
  newToken,
  parseAccessToken,
  secondsLeft,
  secondsUntilFree,
} from './token.ts'

const moments = fc.integer({ min: 0, max: Date.UTC(2200, 0) })

describe('the expiry of a token', () => {
  test('is the second of issuing plus 900', () => {
    fc.assert(
      fc.property(moments, (now) => {
        expect(expiryOf(now)).toBe(Math.floor(now / 1000) * 1000 + 900_000)
      }),
    )
  })

  test('leaves 900 seconds when issued, and at least one until the last millisecond', () => {
    fc.assert(
      fc.property(moments, (now) => {
        expect(secondsLeft(expiryOf(now), now)).toBe(900)
        expect(secondsLeft(expiryOf(now), expiryOf(now) - 1)).toBe(1)
        expect(secondsLeft(expiryOf(now), expiryOf(now))).toBe(0)
      }),
    )
  })

  test('never gives a Retry-After of zero', () => {
    expect([
      secondsUntilFree(5_000, 5_000),
      secondsUntilFree(5_000, 9_000),
      secondsUntilFree(5_001, 4_000),
    ]).toEqual([1, 1, 2])
  })
})

describe('an access token', () => {
  const projectId = newId(randomBytes, 'proj_')
  const { accessToken: token, digest } = newToken(randomBytes, projectId, Date.now())

  test('contains its project id and a prefix for secret scanners, and needs no escaping', () => {
    expect(parseAccessToken(token)).toEqual({ projectId, digest })
    expect(token).toMatch(/^jtn_[A-Za-z0-9_-]+$/)
  })

  test('is stored next to tokens of the same time, in any year', () => {
    const times = fc.integer({ min: 0, max: Date.UTC(2200, 0, 1) })
    fc.assert(
      fc.property(times, times, (one, other) => {
        const [a, b] = [one, other].map((now) => newToken(randomBytes, projectId, now))
        const period = 62 ** 7
        if (one % period < other % period) expect(Buffer.compare(a!.digest, b!.digest)).toBeLessThan(0)
        for (const { accessToken, cacheKey, ...name } of [a!, b!]) {
          expect(parseAccessToken(accessToken)).toEqual(name)
          expect(cacheKey).toBe(cacheKeyOf(accessToken))
        }
      }),
    )
  })

  test('has the same cache key as text and as a stored digest', () => {
    expect(cacheKeyOfDigest(digest)).toBe(cacheKeyOf(token))
  })

  test('with a valid checksum and an invalid time is rejected', () => {
    for (const time of ['_______', '-------', '012345-', '+++++++'])
      expect(parseAccessToken(newCredential(randomBytes, 'jtn_', projectId.slice(5) + time))).toBeNull()
  })

  test('is unique', () => {
    const many = Array.from({ length: 10_000 }, () => newToken(randomBytes, projectId, 0).accessToken)
    expect(new Set(many).size).toBe(many.length)
  })

  test('with one character changed, added or removed is rejected', () => {
    const places = fc.integer({ min: 0, max: token.length - 1 })
    fc.assert(
      fc.property(places, fc.constantFrom(...'Aa0_-é %'), (at, character) => {
        fc.pre(token[at] !== character)
        expect(parseAccessToken(token.slice(0, at) + character + token.slice(at + 1))).toBeNull()
        expect(parseAccessToken(token.slice(0, at) + character + token.slice(at))).toBeNull()
        expect(parseAccessToken(token.slice(0, at) + token.slice(at + 1))).toBeNull()
      }),
    )
  })

  test('is distinguished from all other credentials', () => {
    expect(parseAccessToken(token.replace('jtn_', 'jta_'))).toBeNull()
    for (const text of ['', 'jtn_', 'null', token + token, ` ${token}`, `${token}\n`])
      expect(parseAccessToken(text)).toBeNull()
  })
})

describe('the id of a token', () => {
  test('selects the digests that start with it and no others', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: DIGEST_BYTES, maxLength: DIGEST_BYTES }), (digest) => {
        const { from, to } = digestRange(tokenIdOf(digest))!
        expect(Buffer.compare(from, digest)).toBeLessThanOrEqual(0)
        expect(Buffer.compare(to, digest)).toBeGreaterThanOrEqual(0)
        expect(from.subarray(0, 12)).toEqual(to.subarray(0, 12))
      }),
    )
  })

  test('cannot be used as a token', () => {
    const { accessToken: token, digest } = newToken(randomBytes, newId(randomBytes, 'proj_'), Date.now())
    const id = tokenIdOf(digest)
    expect(id).toMatch(/^tok_[0-9a-f]{24}$/)
    expect(token).not.toContain(id.slice(4))
  })

  test.each([
    '',
    'tok_',
    'tok_xyz',
    `tok_${'0'.repeat(23)}`,
    `tok_${'0'.repeat(25)}`,
    `tok_${'G'.repeat(24)}`,
    `key_${'0'.repeat(24)}`,
  ])('%s is none', (text) => {
    expect(digestRange(text)).toBeNull()
  })
})
