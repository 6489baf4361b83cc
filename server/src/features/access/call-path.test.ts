import { describe, expect, test } from 'vitest'
import fc from '../../../test/properties.ts'
import { covers, SCOPE_VALUES } from '../../contract/scopes.ts'
import { ambiguityIn, requiredScopeOf } from './call-path.ts'

const TRICKS = [
  '',
  'v1/vouchers',
  '*',
  'http://host/v1/vouchers',
  '//v1/vouchers',
  '/v1//vouchers',
  '/v1/vouchers//',
  '/./v1/vouchers',
  '/v1/./vouchers',
  '/v1/vouchers/.',
  '/v1/vouchers/..',
  '/v1/../v1/vouchers',
  '/v1/vouchers/../campaigns',
  '/v1/vouchers/x..y',
  '/v1/vouchers/%2e',
  '/v1/vouchers/%2E%2E/campaigns',
  '/v1/vouchers/.%2e/campaigns',
  '/v1%2fvouchers',
  '/v1/vouchers%2F..',
  '/v1/vouchers%5c',
  '/v1/vouchers%5C..',
  '/v1/vouchers/%252e%252e/x',
  '/v1/vouchers/%25252fx',
  '/v1/vouchers/%255C',
  '/v1/vouchers/%25%32%65%25%32%65/campaigns',
  '/v1/vouchers/%25%32e%25%32e/campaigns',
  '/v1/vouchers/%2525%32e%2525%32e/campaigns',
  '/v1/vouchers/%%32%65',
  '/v1/vouchers/%252%2565',
  '/v1/vouchers/100%25/%252e%252e/campaigns',
  '/v1/vouchers/%25zz/%25%32f',
  '/v1/vouchers/%25c0%25ae%25c0%25ae/campaigns',
  '/v1/vouchers/%2525252525252e',
  '/v1/vouchers/%252525252525',
  '/v1/vouchers/%c0%ae%c0%ae',
  '/v1/vouchers/%e0%80%af',
  '/v1/vouchers/%ff',
  '/v1/vouchers/%ed%a0%80',
  '/v1/vouchers\\x',
  '/v1\\vouchers',
  '/v1/vouchers;x=y',
  '/v1/vouchers/;',
  '/v1/vouchers#x',
  '/v1/vouchers%00',
  '/v1/vouchers%0a',
  '/v1/vouchers%0D%0Ax',
  '/v1/vouchers%1f',
  '/v1/vouchers%7F',
  '/v1/vouchers%250d',
  '/v1/vouchers%',
  '/v1/vouchers%4',
  '/v1/vouchers%zz',
  '/v1/vouchers%u002e',
  '/v1/vouchers x',
  '/v1/vouchers\t',
  '/v1/vouchers\n',
  '/v1/vouchers\0',
  '/v1/vouchers\x7f',
  '/v1/vouchers/é',
  '/v1/vouchers/．．/campaigns',
]

describe('a path that servers parse differently', () => {
  test.each(TRICKS)('is refused: %j', (path) => {
    expect(ambiguityIn(path)).not.toBeNull()
    expect(requiredScopeOf(path)).toMatchObject({ ok: false })
  })

  test('is refused wherever the trick appears in the path, also if it is repeated', () => {
    const tricks = ['//', '/./', '/../', '%2e', '%2f', '%5c', ';', '\\', '\x01', '%00', '%252e', '#'].map(
      (one) => fc.constant(one),
    )
    const piece = fc.stringMatching(/^[a-z0-9-]{0,8}$/)
    fc.assert(
      fc.property(fc.array(piece), fc.oneof(...tricks), fc.array(piece), (before, trick, after) => {
        const path = `/v1/vouchers/${before.join('/')}${trick}${after.join('/')}`
        expect(requiredScopeOf(path).ok).toBe(false)
      }),
    )
  })

  test('is refused quickly even if it is very long', () => {
    const started = performance.now()
    for (const piece of ['%25', '/', '.', '/.', '%', '%2', 'a', '%41', '%25%32', '%25%32%35'])
      requiredScopeOf(`/v1/${piece.repeat(100_000)}`)
    expect(performance.now() - started).toBeLessThan(5_000)
  })
})

/** Percent-encodes the characters that match and a random choice of the others, in lower or upper case digits. */
function encodeLayer(text: string, mustEncode: RegExp, coins: Iterator<boolean>): string {
  const escapeOf = (byte: number) => {
    const digits = byte.toString(16).padStart(2, '0')
    return `%${coins.next().value ? digits : digits.toUpperCase()}`
  }
  const encode = (char: string) =>
    mustEncode.test(char) || coins.next().value ? Array.from(Buffer.from(char), escapeOf).join('') : char
  return Array.from(text, encode).join('')
}

describe('nested percent-encodings', () => {
  const coins = fc.infiniteStream(fc.boolean())
  const NEVER = /[^\s\S]/
  const NOT_PLAIN = /[^\w-]/
  /** Contains no percent sign before a hex digit, because the text `%2e` is itself an encoding. */
  const harmless = fc
    .array(fc.constantFrom('100% ', '%-', 'J', 'ü', 'rgen', '€', '😀', ' ', '+', ';', 'F', '2', '5', 'e'), {
      minLength: 1,
      maxLength: 6,
    })
    .map((pieces) => `${pieces.join('')} `)

  const encodeHarmless = (text: string, layers: number, each: Iterator<boolean>): string => {
    let path = text
    for (let layer = 0; layer < layers; layer++) path = encodeLayer(path, NOT_PLAIN, each)
    return `/v1/vouchers/${path}`
  }

  test('of a slash, dot, backslash or control character are refused', () => {
    const forbidden = fc.oneof(
      fc.constantFrom('/', '.', '\\', '\x7f'),
      fc.integer({ min: 0, max: 0x1f }).map((code) => String.fromCharCode(code)),
    )
    const plain = fc.stringMatching(/^[a-z0-9-]{0,4}$/)
    fc.assert(
      fc.property(plain, forbidden, plain, fc.nat(6), coins, (before, char, after, layers, each) => {
        let path = `${before}${encodeLayer(char, /./s, each)}${after}`
        for (let layer = 0; layer < layers; layer++) path = encodeLayer(path, NEVER, each)
        expect(requiredScopeOf(`/v1/vouchers/${path}`).ok, path).toBe(false)
      }),
      { numRuns: 1_000 },
    )
  })

  test('of harmless text pass, up to five layers deep', () => {
    fc.assert(
      fc.property(harmless, fc.integer({ min: 1, max: 5 }), coins, (text, layers, each) => {
        const path = encodeHarmless(text, layers, each)
        expect(requiredScopeOf(path), path).toEqual({ ok: true, requiredScope: 'vouchers' })
      }),
      { numRuns: 1_000 },
    )
  })

  test('of harmless text are refused if they are more than five layers deep', () => {
    fc.assert(
      fc.property(harmless, fc.integer({ min: 6, max: 8 }), coins, (text, layers, each) => {
        expect(requiredScopeOf(encodeHarmless(text, layers, each)).ok).toBe(false)
      }),
      { numRuns: 50 },
    )
  })
})

describe('a plain path', () => {
  test('requires the scope of its first segment, regardless of the rest', () => {
    const rest = fc
      .array(fc.stringMatching(/^[A-Za-z0-9_~!$&'()*+,=:@-]{1,12}$/))
      .map((parts) => parts.map((one) => `/${one}`).join(''))
    const query = fc.option(
      fc.string().map((text) => `?${text}`),
      { nil: '' },
    )
    fc.assert(
      fc.property(rest, query, (more, asked) => {
        expect(requiredScopeOf(`/v1/vouchers${more}${asked}`)).toEqual({
          ok: true,
          requiredScope: 'vouchers',
        })
        expect(requiredScopeOf(`/client/v1/vouchers${more}${asked}`)).toEqual({
          ok: true,
          requiredScope: 'client_vouchers',
        })
      }),
    )
  })

  test.each([
    ['/v1/vouchers/', 'vouchers'],
    ['/v1/vouchers/Summer%20sale%2B1', 'vouchers'],
    ['/v1/vouchers/caf%C3%A9', 'vouchers'],
    ['/v1/vouchers/v1.2', 'vouchers'],
    ['/v1/vouchers/.hidden', 'vouchers'],
    ['/v1/vouchers/50%25', 'vouchers'],
    ['/v1/vouchers/100%25%20off', 'vouchers'],
    ['/v1/vouchers/100%25zz', 'vouchers'],
    ['/v1/vouchers/J%C3%BCrgen', 'vouchers'],
    ['/v1/vouchers/J%25C3%25BCrgen', 'vouchers'],
    ['/v1/vouchers/%2525252525', 'vouchers'],
    [`/v1/vouchers/${'x'.repeat(8_000)}`, 'vouchers'],
    ['/v1/vouchers?/../', 'vouchers'],
    ['/v1/skus/1', 'SKUs'],
    ['/v1/SKUs/1', 'api'],
    ['/v1/Vouchers', 'api'],
    ['/v1/%76ouchers', 'api'],
    ['/v1/vouchersx', 'api'],
    ['/v1', 'api'],
    ['/v1/', 'api'],
    ['/v1?vouchers', 'api'],
    ['/client/v1', 'client_api'],
    ['/client/v1/loyalties', 'client_api'],
  ] as const)('%.40s requires %s', (path, requiredScope) =>
    expect(requiredScopeOf(path)).toEqual({ ok: true, requiredScope }),
  )

  test.each([
    '/',
    '/v2/vouchers',
    '/V1/vouchers',
    '/v1x/vouchers',
    '/v10',
    '/client',
    '/client/vouchers',
    '/Client/v1/vouchers',
    '/x/v1/vouchers',
    '/clientv1/vouchers',
    '/%76%31/vouchers',
    '/gateway/authorize',
    '/management/v1/projects',
    '/?/v1/vouchers',
  ])('outside of the API is refused: %s', (path) =>
    expect(requiredScopeOf(path)).toEqual({ ok: false, says: 'the path is outside of /v1 and /client/v1' }),
  )

  test('never requires a scope of the other API', () => {
    const segment = fc.oneof(fc.constantFrom(...SCOPE_VALUES), fc.stringMatching(/^[a-z_-]{0,20}$/))
    fc.assert(
      fc.property(segment, (one) => {
        const [server, client] = [requiredScopeOf(`/v1/${one}`), requiredScopeOf(`/client/v1/${one}`)]
        if (!server.ok || !client.ok) throw new Error('not plain')
        expect([covers(['api'], server.requiredScope), covers(['client_api'], server.requiredScope)]).toEqual(
          [true, false],
        )
        expect([covers(['api'], client.requiredScope), covers(['client_api'], client.requiredScope)]).toEqual(
          [false, true],
        )
      }),
    )
  })
})
