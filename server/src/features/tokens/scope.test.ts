import { describe, expect, test } from 'vitest'
import fc from '../../../test/properties.ts'
import { Problem } from '../../contract/problem.ts'
import { coveredBy, SCOPE_VALUES, type Scope } from '../../contract/scopes.ts'
import { grantScope } from './scope.ts'

const EVERYTHING: Scope[] = ['api', 'client_api']
const someScopes = fc.array(fc.constantFrom(...SCOPE_VALUES), {
  minLength: 1,
  maxLength: SCOPE_VALUES.length,
})

function refusal(text: string | undefined, permissions: readonly Scope[] = EVERYTHING): Problem {
  try {
    grantScope(text, permissions)
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  throw new Error(`${JSON.stringify(text)} was granted`)
}

describe('the scope that is granted', () => {
  test('is what was asked for, in the order that was asked for, each value once', () => {
    fc.assert(
      fc.property(someScopes, (asked) => {
        expect(grantScope(asked.join(' '), EVERYTHING)).toBe([...new Set(asked)].join(' '))
      }),
    )
  })

  test('is never more than the permissions cover, and whatever they cover is granted', () => {
    fc.assert(
      fc.property(someScopes, someScopes, (permissions, asked) => {
        const covered = new Set(coveredBy(permissions))
        if (asked.every((value) => covered.has(value)))
          expect(grantScope(asked.join(' '), permissions)).toBeTruthy()
        else
          expect(refusal(asked.join(' '), permissions)).toMatchObject({
            key: 'invalid_scope',
            oauth: 'invalid_scope',
          })
      }),
    )
  })

  test('all 42 values at once are granted, 43 are refused even if one is named twice', () => {
    expect(grantScope(SCOPE_VALUES.join(' '), EVERYTHING)).toBe(SCOPE_VALUES.join(' '))
    expect(refusal([...SCOPE_VALUES, 'api'].join(' ')).key).toBe('invalid_scope')
  })

  test('a key permitted "api" may ask for "vouchers"; one permitted "vouchers" may not ask for "api"', () => {
    expect(grantScope('vouchers', ['api'])).toBe('vouchers')
    expect(refusal('api', ['vouchers']).key).toBe('invalid_scope')
  })

  test('neither side covers the other', () => {
    expect(refusal('client_vouchers', ['api']).key).toBe('invalid_scope')
    expect(refusal('vouchers', ['client_api']).key).toBe('invalid_scope')
  })
})

describe('a scope that is refused', () => {
  test.each([
    ['nothing', ''],
    ['one space', ' '],
    ['a space at the beginning', ' vouchers'],
    ['a space at the end', 'vouchers '],
    ['two spaces', 'vouchers  rewards'],
    ['a comma', 'vouchers,rewards'],
    ['a comma and a space', 'vouchers, rewards'],
    ['a tab', 'vouchers\trewards'],
    ['a line break', 'vouchers\nrewards'],
    ['a no-break space', 'vouchers\u00a0rewards'],
    ['a quote', '"vouchers"'],
    ['a backslash', 'vouchers\\'],
    ['an unknown value', 'everything'],
    ['a known value and an unknown one', 'vouchers everything'],
    ['the wrong case', 'skus'],
    ['the wrong case of a plain value', 'Vouchers'],
    ['a name that every object has', 'constructor'],
    ['a letter that only looks the same', 'v\u043euchers'],
  ])('with %s is invalid_scope, and says what to do', (_, text) => {
    const problem = refusal(text)
    expect(problem).toMatchObject({ key: 'invalid_scope', oauth: 'invalid_scope', status: 400 })
    expect(problem.details).toBeTruthy()
  })

  test('because it is missing is told apart, with the same OAuth error', () => {
    expect(refusal(undefined)).toMatchObject({
      key: 'missing_parameters',
      oauth: 'invalid_scope',
      status: 400,
    })
  })

  test('names the value that was probably meant and what the key may ask for, nothing that it may not', () => {
    const problem = refusal('reward', ['rewards', 'loyalties'])
    expect(problem.message).toContain('Did you mean "rewards"?')
    expect(problem.details).toContain('This key can request: loyalties, rewards.')
    expect(problem.details).not.toContain('vouchers')
  })

  test('repeats little of a long value', () => {
    expect(refusal('x'.repeat(10_000)).message.length).toBeLessThan(200)
  })

  test('is always a Problem, whatever was sent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        fc.pre(!text.split(' ').every((value) => (SCOPE_VALUES as string[]).includes(value)))
        expect(refusal(text).key).toBe('invalid_scope')
      }),
    )
  })
})
