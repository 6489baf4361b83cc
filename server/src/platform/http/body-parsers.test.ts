import { describe, expect, test } from 'vitest'
import fc from '../../../test/properties.ts'
import { Problem } from '../../contract/problem.ts'
import { parseForm, parseJson } from './body-parsers.ts'

function problemOf(act: () => unknown): Problem {
  try {
    act()
  } catch (error) {
    expect(error).toBeInstanceOf(Problem)
    return error as Problem
  }
  throw new Error('nothing was refused')
}

const json = (text: string) => parseJson(Buffer.from(text))
const form = (text: string) => Object.fromEntries(parseForm(Buffer.from(text)))
/** `\uXXXX` for some of the characters, which JSON allows for any of them. */
const escaped = (text: string, which: (i: number) => boolean) =>
  [...text].map((c, i) => (which(i) ? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}` : c)).join('')

describe('JSON', () => {
  test('JSON is parsed as it was written', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        fc.pre(!/\\u0000|__proto__/.test(text))
        expect(json(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  test('an empty JSON body is no body', () => expect(parseJson(Buffer.alloc(0))).toBeUndefined())

  test('JSON with a NUL or half of a surrogate pair is refused, in values and in names, at any depth', () => {
    for (const text of [
      '"\\u0000"',
      '{"a\\u0000":1}',
      '[[{"a":["\\ud800"]}]]',
      '"\\uDC00x"',
      '{"\\udfff":1}',
    ])
      expect(problemOf(() => json(text)).key).toBe('invalid_payload')
    expect(json('"\\ud834\\udd1e \\u0001"')).toBe('𝄞 \u0001')
  })

  test('JSON with __proto__ as a name is refused, in every spelling', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 9, maxLength: 9 }), (mask) => {
        const name = escaped('__proto__', (i) => mask[i]!)
        expect(problemOf(() => json(`{"a":{"${name}":{}}}`)).message).toContain('__proto__')
      }),
    )
    expect(json('{"a":"__proto__","prototype":1}')).toEqual({ a: '__proto__', prototype: 1 })
  })

  test('JSON that is nested too deeply is refused and not reported as a bug', () => {
    for (const levels of [65, 150_000])
      expect(problemOf(() => json('{"a":'.repeat(levels) + '1' + '}'.repeat(levels))).key).toBe(
        'invalid_payload',
      )
    expect(json('{"a":'.repeat(64) + '"[[[{\\"{{"' + '}'.repeat(64))).toBeTypeOf('object')
    const deep = '['.repeat(200_000) + '"\\u0000"' + ']'.repeat(200_000)
    expect(problemOf(() => json(deep)).key).toBe('invalid_payload')
  })

  test('the error for malformed JSON has the position and never repeats the body', () => {
    const told = (text: string) => problemOf(() => json(text)).message
    expect(told('{"a":')).toBe('The body is not valid JSON: unexpected end.')
    expect(told('{"token":"hunter2" "b":1}')).toMatch(
      /^The body is not valid JSON: unexpected character at position 19\.$/,
    )
    for (const text of [
      'hunter2',
      '{"a":hunter2}',
      '{"token":"hunter2", }',
      `{"a":"${'x'.repeat(100)}",hunter2}`,
      '{"hunter2 at position 999":x}',
    ]) {
      expect(told(text)).not.toMatch(/hunter2|999|unexpected end/)
    }
  })

  test('JSON that is not UTF-8 is refused', () => {
    expect(problemOf(() => parseJson(Buffer.from([0x22, 0xff, 0x22]))).message).toBe(
      'The body is not valid UTF-8.',
    )
    expect(problemOf(() => parseJson(Buffer.from('"\xed\xa0\x80"', 'latin1'))).message).toBe(
      'The body is not valid UTF-8.',
    )
  })
})

describe('a form', () => {
  test('a form of a browser or OAuth client is parsed', () => {
    const name = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((text) => text.isWellFormed() && !text.includes('\0'))
    fc.assert(
      fc.property(fc.dictionary(name, name), (fields) => {
        expect(form(new URLSearchParams(fields).toString())).toEqual(fields)
      }),
    )
  })

  test('a form may have the example of RFC 6749 appendix B, empty fields and stray separators', () => {
    expect(form('a=+%25%26%2B%C2%A3%E2%82%AC')).toEqual({ a: ' %&+£€' })
    expect(form('&a=&b&&c=d=e&')).toEqual({ a: '', b: '', c: 'd=e' })
    expect(form('')).toEqual({})
  })

  test('a form with a repeated field is refused, also if it is encoded differently or empty', () => {
    for (const text of ['a=1&a=1', 'a=1&%61=2', 'a&a', 'a+b=1&a%20b=1'])
      expect(problemOf(() => form(text)).key).toBe('duplicate_parameter')
  })

  test('a form with bad percent-encoding, bad UTF-8 or a NUL is refused', () => {
    for (const text of ['a=%', 'a=%4', 'a=%zz', 'a=%ff', 'a=%ed%a0%80', 'a=%00', '%00=a', 'a=\0'])
      expect(problemOf(() => form(text)).key).toBe('invalid_payload')
    expect(problemOf(() => parseForm(Buffer.from([0x61, 0x3d, 0xff]))).key).toBe('invalid_payload')
  })

  test('the error for a malformed form never repeats a value', () => {
    for (const text of ['secret=hunter2&secret=hunter2', 'secret=hunter2%'])
      expect(problemOf(() => form(text)).message + problemOf(() => form(text)).details).not.toContain(
        'hunter2',
      )
  })

  test('a form may have fields with names such as __proto__', () => {
    expect([...parseForm(Buffer.from('__proto__=x&constructor=y'))]).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ])
  })
})
