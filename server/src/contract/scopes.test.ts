import { describe, expect, test } from 'vitest'
import { coveredBy, covers, isScope, SCOPE_VALUES, SCOPES, scopeOfSegment } from './scopes.ts'

/** The documented scopes. */
const SPECIFIED =
  `api assets async-actions campaigns categories client_api client_consents client_customers client_events
client_promotions client_publish client_qualifications client_redeem client_redemptions client_validate
client_validations client_vouchers consents customers events exports locations loyalties metadata-schemas orders
product-collections products promotions publications qualifications redemptions referrals rewards segments SKUs
task-results templates trash-bin validation-rules-assignments validation-rules validations vouchers`.split(
    /\s/,
  )

const server = SPECIFIED.filter((scope) => !scope.startsWith('client_'))
const client = SPECIFIED.filter((scope) => scope.startsWith('client_'))

describe('the scope values', () => {
  test('are the 42 documented ones, in their order', () => {
    expect(SPECIFIED).toHaveLength(42)
    expect(SCOPE_VALUES).toEqual(SPECIFIED)
  })

  test('are matched exactly', () => {
    for (const text of [
      'API',
      'skus',
      'Skus',
      '',
      ' api',
      'api ',
      '*',
      'toString',
      '__proto__',
      'constructor',
      'client_',
    ])
      expect(isScope(text), text).toBe(false)
    expect(SPECIFIED.every(isScope)).toBe(true)
  })

  test('cover one path segment each: their name without client_, in lower case', () => {
    for (const scope of SCOPE_VALUES.filter((one) => one !== 'api' && one !== 'client_api')) {
      const { side, segment } = SCOPES[scope]
      expect([side, segment]).toEqual([
        scope.startsWith('client_') ? 'client' : 'server',
        scope.replace('client_', '').toLowerCase(),
      ])
      expect(scopeOfSegment(side, segment)).toBe(scope)
    }
  })
})

describe('a segment', () => {
  test('that no scope names is covered by api or client_api only', () => {
    for (const segment of ['unheard-of', '', 'SKUs', 'Vouchers', '*x', 'toString', 'oauth']) {
      expect(scopeOfSegment('server', segment), segment).toBe('api')
      expect(scopeOfSegment('client', segment), segment).toBe('client_api')
    }
  })

  test('of one side is independent of the other side', () => {
    expect(scopeOfSegment('server', 'publish')).toBe('api')
    expect(scopeOfSegment('client', 'loyalties')).toBe('client_api')
    expect(scopeOfSegment('client', 'vouchers')).toBe('client_vouchers')
  })
})

describe('holding scopes', () => {
  test('api covers every server-side value and client_api every client-side one, and not the reverse', () => {
    expect(coveredBy(['api'])).toEqual(server)
    expect(coveredBy(['client_api'])).toEqual(client)
    expect(coveredBy(['api', 'client_api'])).toEqual(SPECIFIED)
  })

  test('any other value covers itself alone', () => {
    for (const scope of SCOPE_VALUES.filter((one) => one !== 'api' && one !== 'client_api'))
      expect(coveredBy([scope])).toEqual([scope])
  })

  test('no scope, or an unknown one, covers nothing', () => {
    expect(coveredBy([])).toEqual([])
    expect(coveredBy(['*', 'API', 'client_', ''])).toEqual([])
    expect(covers([], 'vouchers')).toBe(false)
    expect(covers(['vouchers'], 'vouchers')).toBe(true)
  })
})
