import { describe, expect, test } from 'vitest'
import fc from '../../../test/properties.ts'
import { randomBytes } from '../../platform/secrets.ts'
import { codeConfigOf, newCode } from './code.ts'

describe('a code', () => {
  test('consists of the prefix, `length` characters of the charset, and the postfix', () => {
    const part = fc.stringMatching(/^[A-Za-z0-9._~!$*+:@-]{0,6}$/)
    const charset = fc.stringMatching(/^[A-Za-z0-9._~!$*+:@-]{1,20}$/)
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 32 }),
        charset,
        part,
        part,
        (length, charset, prefix, postfix) => {
          const code = newCode(randomBytes, codeConfigOf({ length, charset, prefix, postfix }))
          expect(code.startsWith(prefix) && code.endsWith(postfix)).toBe(true)
          const drawn = code.slice(prefix.length, code.length - postfix.length)
          expect(drawn).toHaveLength(length)
          expect([...drawn].every((character) => charset.includes(character))).toBe(true)
        },
      ),
    )
  })

  test('follows the pattern, which overrides the length', () => {
    const config = codeConfigOf({ pattern: 'A#-##!', charset: '01', length: 20, prefix: 'p', suffix: 's' })
    expect(newCode(randomBytes, config)).toMatch(/^pA[01]-[01]{2}!s$/)
    expect(config).toEqual({ length: null, charset: '01', prefix: 'p', postfix: 's', pattern: 'A#-##!' })
  })

  test('has eight letters and digits by default', () => {
    expect(newCode(randomBytes, codeConfigOf())).toMatch(/^[0-9A-Za-z]{8}$/)
  })

  test('uses all characters equally often', () => {
    const charset = 'abcdefghijk'
    const config = codeConfigOf({ length: 32, charset })
    const counts = new Map<string, number>()
    for (let i = 0; i < 2_000; i++)
      for (const one of newCode(randomBytes, config)) counts.set(one, (counts.get(one) ?? 0) + 1)
    const expected = (2_000 * 32) / charset.length
    // Six standard deviations: about two in a billion runs of a uniform draw would fail.
    const most = 6 * Math.sqrt(expected)
    for (const one of charset) expect(Math.abs((counts.get(one) ?? 0) - expected)).toBeLessThan(most)
  })

  test('counts a character once, even if the charset repeats it', () => {
    expect(codeConfigOf({ charset: 'aab' }).charset).toBe('ab')
  })
})
