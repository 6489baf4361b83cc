import { describe, expect, test } from 'vitest'
import fc from '../../test/properties.ts'
import { withoutCredentials } from './ids.ts'

const SECRET = 'Zq9-xK_7wLmN4vB2'
const hex = (char: string) => char.charCodeAt(0).toString(16).padStart(2, '0')

/** Percent-encodes the characters that `isEncoded` selects. */
const encoded = (text: string, isEncoded: readonly boolean[]) =>
  [...text].map((char, i) => (isEncoded[i % isEncoded.length] ? `%${hex(char)}` : char)).join('')

describe('a credential in a log or message', () => {
  test.each(['jta_', 'jtm_', 'jtn_', 'jtl_', 'jts_', 'JTN_', 'whsec_'])('is masked: %s', (prefix) => {
    expect(withoutCredentials(`/v1/${prefix}${SECRET}/x?a=b`)).toBe(`/v1/${prefix}•••/x?a=b`)
    expect(withoutCredentials(`a "${prefix}${SECRET}", and more`)).toBe(`a "${prefix}•••", and more`)
  })

  test.each([
    `%6atn_${SECRET}`,
    `%6A%74%6E%5F${SECRET}`,
    `jtn%5F${SECRET}`,
    `jtn%5f${encoded(SECRET, [true])}`,
    `%256atn_${SECRET}`,
    `%25%36%61tn_${SECRET}`,
    `jtn_%00${SECRET}`,
    `x%2F%6atn_${SECRET}`,
  ])('is masked if it is percent-encoded: %s', (path) => {
    expect(withoutCredentials(`/v1/${path}/x`)).toBe('/v1/jtn_•••/x')
  })

  test('is masked in every percent-encoding, up to four layers', () => {
    const picks = fc.array(fc.boolean(), { minLength: 1, maxLength: 24 })
    fc.assert(
      fc.property(fc.array(picks, { maxLength: 4 }), (rounds) => {
        const spelled = rounds.reduce(encoded, `jtn_${SECRET}`)
        expect(withoutCredentials(`/v1/${spelled}`)).toBe('/v1/jtn_•••')
      }),
    )
  })

  test('is masked as a whole if there are more layers', () => {
    const began = performance.now()
    expect(withoutCredentials(`/v1/%${'25'.repeat(8_000)}6atn_${SECRET}`)).toBe('/v1/•••')
    expect(performance.now() - began).toBeLessThan(500)
  })
})

test.each(['/v1/J%C3%BCrgen', '/100%25', '/%20a%2Fb', '/%zz%', '/v1/vouchers/x', 'jtn_', '/jt_x', '%6atn'])(
  'other text stays unchanged: %s',
  (text) => {
    expect(withoutCredentials(text)).toBe(text)
  },
)
