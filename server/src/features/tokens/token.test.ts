import { describe, expect, test } from 'vitest'
import fc from '../../../test/properties.ts'
import { tokenIdOf } from '../../contract/ids.ts'
import { newCredential, newId, randomBytes } from '../../platform/secrets.ts'
import {
  DIGEST_BYTES,
  digestRange,
  expiryOf,
  mapKeyOf,
  mapKeyOfDigest,
  nameOfToken,
  newToken,
  secondsLeft,
  secondsUntilFree,
} from './token.ts'

const moments = fc.integer({ min: 0, max: Date.UTC(2200, 0) })

describe('the expiry of a token', () => {
  test('is the whole second of issuing and 900', () => {
    fc.assert(
      fc.property(moments, (now) => {
        expect(expiryOf(now)).toBe(Math.floor(now / 1000) * 1000 + 900_000)
      }),
    )
  })

  test('leaves 900 seconds at the moment of issuing, and at least one until the last millisecond', () => {
    fc.assert(
      fc.property(moments, (now) => {
        expect(secondsLeft(expiryOf(now), now)).toBe(900)
        expect(secondsLeft(expiryOf(now), expiryOf(now) - 1)).toBe(1)
        expect(secondsLeft(expiryOf(now), expiryOf(now))).toBe(0)
      }),
    )
  })

  test('never tells anyone to come back at once', () => {
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

  test('names its project, has a prefix for scanners, and needs no escaping anywhere', () => {
    expect(nameOfToken(token)).toEqual({ projectId, digest })
    expect(token).toMatch(/^jtn_[A-Za-z0-9_-]+$/)
  })

  test('lies beside what was issued at the same time, in whichever year', () => {
    const times = fc.integer({ min: 0, max: Date.UTC(2200, 0, 1) })
    fc.assert(
      fc.property(times, times, (one, other) => {
        const [a, b] = [one, other].map((now) => newToken(randomBytes, projectId, now))
        const period = 62 ** 7
        if (one % period < other % period) expect(Buffer.compare(a!.digest, b!.digest)).toBeLessThan(0)
        for (const { accessToken, mapKey, ...name } of [a!, b!]) {
          expect(nameOfToken(accessToken)).toEqual(name)
          expect(mapKey).toBe(mapKeyOf(accessToken))
        }
      }),
    )
  })

  test('is known in memory by the same name, whether it came as text or from the store', () => {
    expect(mapKeyOfDigest(digest)).toBe(mapKeyOf(token))
  })

  test('made up with a checksum that fits and a time that is none is no token', () => {
    for (const time of ['_______', '-------', '012345-', '+++++++'])
      expect(nameOfToken(newCredential(randomBytes, 'jtn_', projectId.slice(5) + time))).toBeNull()
  })

  test('is never the same twice', () => {
    const many = Array.from({ length: 10_000 }, () => newToken(randomBytes, projectId, 0).accessToken)
    expect(new Set(many).size).toBe(many.length)
  })

  test('with one character changed, added or left out is no token', () => {
    const places = fc.integer({ min: 0, max: token.length - 1 })
    fc.assert(
      fc.property(places, fc.constantFrom(...'Aa0_-é %'), (at, character) => {
        fc.pre(token[at] !== character)
        expect(nameOfToken(token.slice(0, at) + character + token.slice(at + 1))).toBeNull()
        expect(nameOfToken(token.slice(0, at) + character + token.slice(at))).toBeNull()
        expect(nameOfToken(token.slice(0, at) + token.slice(at + 1))).toBeNull()
      }),
    )
  })

  test('is not mistaken for other credentials, nor they for it', () => {
    expect(nameOfToken(token.replace('jtn_', 'jta_'))).toBeNull()
    for (const text of ['', 'jtn_', 'null', token + token, ` ${token}`, `${token}\n`])
      expect(nameOfToken(text)).toBeNull()
  })
})

describe('the id of a token', () => {
  test('leads to the digests that begin with it and to no others', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: DIGEST_BYTES, maxLength: DIGEST_BYTES }), (digest) => {
        const { from, to } = digestRange(tokenIdOf(digest))!
        expect(Buffer.compare(from, digest)).toBeLessThanOrEqual(0)
        expect(Buffer.compare(to, digest)).toBeGreaterThanOrEqual(0)
        expect(from.subarray(0, 12)).toEqual(to.subarray(0, 12))
      }),
    )
  })

  test('tells nothing that could be used as a token', () => {
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
