import type { FastifyRequest } from 'fastify'
import { describe, expect, test } from 'vitest'
import { readCredential } from './client-credentials.ts'

const PAIR = { 'x-app-id': 'id', 'x-app-token': 'secret' }
const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
const formPair = { client_id: 'id', client_secret: 'secret' }

const credential = (headers: Record<string, string>, form: Record<string, string> = {}) =>
  readCredential({ headers } as never as FastifyRequest, new Map(Object.entries(form)))

const PROVED = { kind: 'key', appId: 'id', appToken: 'secret' }
const NOTHING = { kind: 'none' }

describe('a key pair', () => {
  test.each([
    ['in the headers of Voucherify', PAIR, {}],
    ['in Basic', basic('id:secret'), {}],
    [
      'in Basic, with the scheme in mixed case',
      { authorization: `bAsIc ${Buffer.from('id:secret').toString('base64')}` },
      {},
    ],
    ['in Basic, percent-encoded by RFC 6749 §2.3.1', basic('i%64:secre%74'), {}],
    ['in the form', {}, formPair],
    ['in headers and Basic, with equal values', { ...PAIR, ...basic('id:secret') }, {}],
    ['in Basic and form, with equal values', basic('id:secret'), formPair],
    ['in all three, with equal values', { ...PAIR, ...basic('id:secret') }, formPair],
    ['in Basic, with its id repeated in the form', basic('id:secret'), { client_id: 'id' }],
    ['half in a header, half in the form', { 'x-app-id': 'id' }, { client_secret: 'secret' }],
    ['in headers, with empty form fields', PAIR, { client_id: '', client_secret: '' }],
    ['in Basic, with empty form fields', basic('id:secret'), { client_id: '', client_secret: '' }],
  ] as const)('%s is taken', (_, headers, form) => {
    expect(credential(headers, form)).toEqual(PROVED)
  })

  test.each([
    ['headers and Basic', { ...PAIR, ...basic('id:other') }, {}],
    ['headers and form', PAIR, { client_secret: 'other' }],
    ['the ids of headers and form', PAIR, { client_id: 'other' }],
    ['Basic and form', basic('id:secret'), { client_id: 'id', client_secret: 'other' }],
    ['headers and an Authorization of another scheme', { ...PAIR, authorization: 'Digest abc' }, {}],
    ['headers and an Authorization without a value', { ...PAIR, authorization: 'Basic' }, {}],
    ['headers and an Authorization of blanks', { ...PAIR, authorization: 'Bearer  ' }, {}],
    ['headers and Basic that is no base64', { ...PAIR, authorization: 'Basic !!!' }, {}],
    ['half a pair and an Authorization of another scheme', { 'x-app-id': 'id', authorization: 'x' }, {}],
    ['a form and an Authorization of another scheme', { authorization: 'Negotiate abc' }, formPair],
  ] as const)('that differs between %s is refused as ambiguous', (_, headers, form) => {
    expect(() => credential(headers, form)).toThrow(
      expect.objectContaining({ key: 'conflicting_credentials', status: 400 }),
    )
  })

  test('keeps colons, plus signs and percent signs of an unencoded secret', () => {
    expect(credential(basic('id:a:b%'))).toEqual({ kind: 'key', appId: 'id', appToken: 'a:b%' })
  })

  test.each([
    ['no credential', {}, {}],
    ['only an id', { 'x-app-id': 'id' }, {}],
    ['a secret alone', {}, { client_secret: 'secret' }],
    ['empty headers', { 'x-app-id': '', 'x-app-token': '' }, {}],
    ['an unknown scheme', { authorization: 'Digest abc' }, {}],
    ['a scheme without a value', { authorization: 'Basic' }, {}],
    ['Basic without a colon', basic('id'), {}],
  ] as const)('is missing: %s', (_, headers, form) => {
    expect(credential(headers, form)).toEqual(NOTHING)
  })
})

describe('a bearer token', () => {
  test('is read from its header, with the scheme in any case', () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER'])
      expect(credential({ authorization: `${scheme} jtn_x` })).toEqual({
        kind: 'bearer',
        accessToken: 'jtn_x',
      })
  })

  test.each([
    ['headers', PAIR, {}],
    ['half a pair in the headers', { 'x-app-id': 'id' }, {}],
    ['a form', {}, formPair],
    ['half a pair in the form', {}, { client_id: 'id' }],
  ] as const)('together with a pair in %s is refused', (_, headers, form) => {
    expect(() => credential({ ...headers, authorization: 'Bearer jtn_x' }, form)).toThrow(
      expect.objectContaining({ key: 'conflicting_credentials' }),
    )
  })

  test('in the form is not a credential, but the token to introspect', () => {
    expect(credential({}, { access_token: 'jtn_x' })).toEqual(NOTHING)
  })
})
