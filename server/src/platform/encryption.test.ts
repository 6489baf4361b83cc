import { describe, expect, test } from 'vitest'
import { Problem } from '../contract/problem.ts'
import { createVault, keyIdIn, keyIdOf } from './encryption.ts'
import { randomBytes } from './secrets.ts'

const KEY = Buffer.alloc(32, 7)
const OTHER = Buffer.alloc(32, 8)
const PLACE = 'destinations/proj_1/wh_1/secret'
const SECRET = 'whsec_ÄÖÜ and a plain text'

const vault = createVault(KEY, randomBytes)

function problemOf(work: () => unknown): Problem {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(Problem)
    expect((error as Problem).key).toBe('encryption_unavailable')
    return error as Problem
  }
  throw new Error('nothing was thrown')
}

describe('a sealed value', () => {
  test('opens to the same text, with the same key and at the same place', () => {
    for (const text of ['', 'x', SECRET, 'ä'.repeat(5000)])
      expect(vault.open(vault.seal(text, PLACE), PLACE)).toBe(text)
    expect(createVault(Buffer.from(KEY), randomBytes).open(vault.seal(SECRET, PLACE), PLACE)).toBe(SECRET)
  })

  test('is another one every time and holds nothing of the text', () => {
    const sealed = Array.from({ length: 100 }, () => vault.seal(SECRET, PLACE))
    expect(new Set(sealed).size).toBe(100)
    const bytes = sealed.map((one) => Buffer.from(one.split('.')[2]!, 'base64url').toString('latin1'))
    for (const text of [...sealed, ...bytes]) expect(text).not.toContain('whsec')
  })

  test('says its version and which key it needs, and nothing of the key itself', () => {
    const sealed = vault.seal(SECRET, PLACE)
    expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]+$/)
    expect(sealed.split('.')[1]).toBe(keyIdOf(KEY))
    expect(keyIdOf(KEY)).not.toBe(KEY.toString('hex').slice(0, 8))
    expect(keyIdOf(KEY)).not.toBe(keyIdOf(OTHER))
  })

  test('does not open at another place', () => {
    const sealed = vault.seal(SECRET, PLACE)
    for (const place of ['', 'destinations/proj_1/wh_2/secret', `${PLACE}2`])
      expect(problemOf(() => vault.open(sealed, place)).message).toContain('altered or moved')
  })

  test('with any one character changed does not open, and never to garbage', () => {
    const sealed = vault.seal('secret', PLACE)
    for (let i = 0; i < sealed.length; i++) {
      const other = sealed[i] === 'A' ? 'B' : 'A'
      const changed = sealed.slice(0, i) + other + sealed.slice(i + 1)
      // The last character of base64 may hold bits that mean nothing.
      if (Buffer.from(changed.split('.')[2] ?? '', 'base64url').equals(bodyOf(sealed)) && sameHead(changed))
        continue
      problemOf(() => vault.open(changed, PLACE))
    }
    function sameHead(text: string) {
      return text.split('.').slice(0, 2).join() === sealed.split('.').slice(0, 2).join()
    }
  })

  test.each(['', 'v1', 'v1.x', 'v2.00000000.AAAA', `v1.${keyIdOf(KEY)}.AAAA`, `v1.${keyIdOf(KEY)}.`])(
    '%j is refused in words',
    (text) => void problemOf(() => vault.open(text, PLACE)),
  )
})

test('another key is told by name and what to do, and leaks neither key nor text', () => {
  const sealed = vault.seal(SECRET, PLACE)
  const { message, details, status } = problemOf(() => createVault(OTHER, randomBytes).open(sealed, PLACE))
  expect(message).toContain(keyIdOf(KEY))
  expect(message).toContain(keyIdOf(OTHER))
  expect(details).toContain('JETON_ENCRYPTION_KEY')
  expect(status).toBe(503)
  for (const secret of [SECRET, KEY.toString('base64'), OTHER.toString('base64')])
    expect(message + details).not.toContain(secret)
})

test('an earlier key opens what it sealed, and only the first one seals', () => {
  const both = createVault(OTHER, randomBytes, [KEY])
  expect(both.open(vault.seal(SECRET, PLACE), PLACE)).toBe(SECRET)
  const sealed = both.seal(SECRET, PLACE)
  expect(keyIdIn(sealed)).toBe(keyIdOf(OTHER))
  expect(both.open(sealed, PLACE)).toBe(SECRET)
  problemOf(() => vault.open(sealed, PLACE))
  // The id is authenticated: what one key sealed does not pass for the other's.
  problemOf(() => both.open(sealed.replace(keyIdOf(OTHER), keyIdOf(KEY)), PLACE))
  expect(['', 'v1', 'v2.00000000.AAAA', 'whsec_x'].map(keyIdIn)).toEqual(Array(4).fill(undefined))
})

test('without a key nothing is stored or read, and the setting is named', () => {
  const none = createVault(undefined, randomBytes)
  expect([vault.ready, none.ready]).toEqual([true, false])
  for (const work of [() => none.seal('x', PLACE), () => none.open(vault.seal('x', PLACE), PLACE)]) {
    const { message, details } = problemOf(work)
    expect(message).toContain('JETON_ENCRYPTION_KEY is not set')
    expect(details).toContain('openssl rand -base64 32')
  }
})

test('a key of another length is a bug', () => {
  expect(() => createVault(Buffer.alloc(16), randomBytes)).toThrow(/32 bytes/)
})

const bodyOf = (sealed: string): Buffer => Buffer.from(sealed.split('.')[2]!, 'base64url')
