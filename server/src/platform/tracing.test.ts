import { describe, expect, test } from 'vitest'
import fc from '../../test/properties.ts'
import { parseTraceparent } from './tracing.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'

describe('a traceparent', () => {
  test.each([`00-${TRACE}-${PARENT}-01`, `00-${TRACE}-${PARENT}-00`, `00-${TRACE}-${PARENT}-ff`])(
    'of the current version is taken unchanged: %s',
    (header) => {
      expect(parseTraceparent(header)).toBe(header)
    },
  )

  test.each([
    [`cc-${TRACE}-${PARENT}-01`, '01'],
    [`01-${TRACE}-${PARENT}-03-what-comes-next`, '01'],
    [`fe-${TRACE}-${PARENT}-02-`, '00'],
  ])('of a later version becomes one of the current version: %s', (header, flags) => {
    expect(parseTraceparent(header)).toBe(`00-${TRACE}-${PARENT}-${flags}`)
  })

  test.each([
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${PARENT}-01`],
    ['a parent id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['version ff', `ff-${TRACE}-${PARENT}-01`],
    ['capital letters', `00-${TRACE.toUpperCase()}-${PARENT}-01`],
    ['more fields than version 00 has', `00-${TRACE}-${PARENT}-01-x`],
    ['a hyphen at the end of version 00', `00-${TRACE}-${PARENT}-01-`],
    ['a short trace id', `00-${TRACE.slice(1)}-${PARENT}-01`],
    ['a long trace id', `00-${TRACE}a-${PARENT}-01`],
    ['a short parent id', `00-${TRACE}-${PARENT.slice(1)}-01`],
    ['flags of one digit', `00-${TRACE}-${PARENT}-1`],
    ['flags of three digits', `00-${TRACE}-${PARENT}-011`],
    ['a later version whose flags are too long', `01-${TRACE}-${PARENT}-011`],
    ['other characters than hexadecimal digits', `00-${TRACE.replace('4', 'g')}-${PARENT}-01`],
    ['spaces around it', ` 00-${TRACE}-${PARENT}-01 `],
    ['a line break at its end', `00-${TRACE}-${PARENT}-01\n`],
    ['two values', `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`],
    ['two values, as a list', [`00-${TRACE}-${PARENT}-01`, `00-${TRACE}-${PARENT}-01`]],
    ['nothing', ''],
    ['no header', undefined],
  ])('with %s is ignored', (_, header) => {
    expect(parseTraceparent(header)).toBeUndefined()
  })

  test('that is taken has 55 characters of the current version, whatever was sent', () => {
    const part = fc.constantFrom(
      '00',
      '01',
      'ff',
      TRACE,
      PARENT,
      '0',
      '-',
      '--',
      'a',
      'A',
      ',',
      ' ',
      '\t',
      'é',
    )
    const random = fc.oneof(
      fc.array(part, { maxLength: 9 }).map((parts) => parts.join('-')),
      fc.string(),
    )
    let taken = 0
    fc.assert(
      fc.property(fc.oneof(random, fc.constant(`01-${TRACE}-${PARENT}-01-x`)), (header) => {
        const parsed = parseTraceparent(header)
        if (parsed === undefined) return
        taken++
        expect(parsed).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/)
      }),
      { numRuns: 2_000 },
    )
    expect(taken).toBeGreaterThan(0)
  })
})
