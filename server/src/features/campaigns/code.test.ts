import { describe, expect, test } from 'vitest'
import fc from '../../../test/properties.ts'
import { randomBytes } from '../../platform/secrets.ts'
import { codeConfigOf, newCode } from './code.ts'

describe('a code', () => {
  test('is prefix, as many characters of the charset as wanted, and postfix', () => {
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

  test('follows its pattern, which takes the place of a length', () => {
    const config = codeConfigOf({ pattern: 'A#-##!', charset: '01', length: 20, prefix: 'p', suffix: 's' })
    expect(newCode(randomBytes, config)).toMatch(/^pA[01]-[01]{2}!s$/)
    expect(config).toEqual({ length: null, charset: '01', prefix: 'p', postfix: 's', pattern: 'A#-##!' })
  })

  test('is eight letters and digits where nothing is said', () => {
    expect(newCode(randomBytes, codeConfigOf())).toMatch(/^[0-9A-Za-z]{8}$/)
  })

  test('favours no character', () => {
    const charset = 'abcdefghijk'
    const config = codeConfigOf({ length: 32, charset })
    const counts = new Map<string, number>()
    for (let i = 0; i < 2_000; i++)
      for (const one of newCode(randomBytes, config)) counts.set(one, (counts.get(one) ?? 0) + 1)
    const expected = (2_000 * 32) / charset.length
    // Six standard deviations: of a billion runs of a fair draw two would fail.
    const most = 6 * Math.sqrt(expected)
    for (const one of charset) expect(Math.abs((counts.get(one) ?? 0) - expected)).toBeLessThan(most)
  })

  test('takes a character once, however often the charset names it', () => {
    expect(codeConfigOf({ charset: 'aab' }).charset).toBe('ab')
  })
})
