import { describe, expect, test } from 'vitest'
import { Problem } from '../contract/problem.ts'
import { createVault, keyIdIn, keyIdOf } from './encryption.ts'
import { randomBytes } from './secrets.ts'

const KEY = Buffer.alloc(32, 7)
const OTHER = Buffer.alloc(32, 8)
const CONTEXT = 'destinations/proj_1/wh_1/secret'
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
  test('decrypts to the same text with the same key and context', () => {
    for (const text of ['', 'x', SECRET, 'ä'.repeat(5000)])
      expect(vault.open(vault.seal(text, CONTEXT), CONTEXT)).toBe(text)
    expect(createVault(Buffer.from(KEY), randomBytes).open(vault.seal(SECRET, CONTEXT), CONTEXT)).toBe(SECRET)
  })

  test('differs every time and contains nothing of the text', () => {
    const sealed = Array.from({ length: 100 }, () => vault.seal(SECRET, CONTEXT))
    expect(new Set(sealed).size).toBe(100)
    const bytes = sealed.map((one) => Buffer.from(one.split('.')[2]!, 'base64url').toString('latin1'))
    for (const text of [...sealed, ...bytes]) expect(text).not.toContain('whsec')
  })

  test('contains its version and key id, and nothing of the key itself', () => {
    const sealed = vault.seal(SECRET, CONTEXT)
    expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]+$/)
    expect(sealed.split('.')[1]).toBe(keyIdOf(KEY))
    expect(keyIdOf(KEY)).not.toBe(KEY.toString('hex').slice(0, 8))
    expect(keyIdOf(KEY)).not.toBe(keyIdOf(OTHER))
  })

  test('cannot be decrypted in another context', () => {
    const sealed = vault.seal(SECRET, CONTEXT)
    for (const context of ['', 'destinations/proj_1/wh_2/secret', `${CONTEXT}2`])
      expect(problemOf(() => vault.open(sealed, context)).message).toContain('altered or moved')
  })

  test('cannot be decrypted after any character was changed', () => {
    const sealed = vault.seal('secret', CONTEXT)
    for (let i = 0; i < sealed.length; i++) {
      const other = sealed[i] === 'A' ? 'B' : 'A'
      const changed = sealed.slice(0, i) + other + sealed.slice(i + 1)
      // The last character of base64 may contain unused bits.
      if (Buffer.from(changed.split('.')[2] ?? '', 'base64url').equals(bodyOf(sealed)) && sameHead(changed))
        continue
      problemOf(() => vault.open(changed, CONTEXT))
    }
    function sameHead(text: string) {
      return text.split('.').slice(0, 2).join() === sealed.split('.').slice(0, 2).join()
    }
  })

  test.each(['', 'v1', 'v1.x', 'v2.00000000.AAAA', `v1.${keyIdOf(KEY)}.AAAA`, `v1.${keyIdOf(KEY)}.`])(
    '%j is rejected with an explanation',
    (text) => void problemOf(() => vault.open(text, CONTEXT)),
  )
})

test('a wrong key is reported by its id with a remedy, without key or text', () => {
  const sealed = vault.seal(SECRET, CONTEXT)
  const { message, details, status } = problemOf(() => createVault(OTHER, randomBytes).open(sealed, CONTEXT))
  expect(message).toContain(keyIdOf(KEY))
  expect(message).toContain(keyIdOf(OTHER))
  expect(details).toContain('JETON_ENCRYPTION_KEY')
  expect(status).toBe(503)
  for (const secret of [SECRET, KEY.toString('base64'), OTHER.toString('base64')])
    expect(message + details).not.toContain(secret)
})

test('an earlier key decrypts its own values, and only the first key encrypts', () => {
  const both = createVault(OTHER, randomBytes, [KEY])
  expect(both.open(vault.seal(SECRET, CONTEXT), CONTEXT)).toBe(SECRET)
  const sealed = both.seal(SECRET, CONTEXT)
  expect(keyIdIn(sealed)).toBe(keyIdOf(OTHER))
  expect(both.open(sealed, CONTEXT)).toBe(SECRET)
  problemOf(() => vault.open(sealed, CONTEXT))
  // The id is authenticated: a value of one key is not accepted under the id of another.
  problemOf(() => both.open(sealed.replace(keyIdOf(OTHER), keyIdOf(KEY)), CONTEXT))
  expect(['', 'v1', 'v2.00000000.AAAA', 'whsec_x'].map(keyIdIn)).toEqual(Array(4).fill(undefined))
})

test('without a key nothing is stored or read, and the error names the setting', () => {
  const none = createVault(undefined, randomBytes)
  expect([vault.ready, none.ready]).toEqual([true, false])
  for (const work of [() => none.seal('x', CONTEXT), () => none.open(vault.seal('x', CONTEXT), CONTEXT)]) {
    const { message, details } = problemOf(work)
    expect(message).toContain('JETON_ENCRYPTION_KEY is not set')
    expect(details).toContain('openssl rand -base64 32')
  }
})

test('a key of another length is a bug', () => {
  expect(() => createVault(Buffer.alloc(16), randomBytes)).toThrow(/32 bytes/)
})

const bodyOf = (sealed: string): Buffer => Buffer.from(sealed.split('.')[2]!, 'base64url')
