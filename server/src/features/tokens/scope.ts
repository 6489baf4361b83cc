import { Problem } from '../../contract/problem.ts'
import { coveredBy, covers, isScope, SCOPE_VALUES, type Scope } from '../../contract/scopes.ts'
import { closest } from '../../platform/closest.ts'

const refuse = (message: string, details: string): Problem =>
  new Problem('invalid_scope', { message, details })

const requestableScopes = (permissions: readonly Scope[]): string => {
  const values = coveredBy(permissions)
  if (values.length <= 12) return values.join(', ')
  return `${permissions.join(', ')} and every scope that ${permissions.length === 1 ? 'it covers' : 'they cover'}`
}

/** Grammar of RFC 6749 §3.3: single spaces, none at the start or end. */
function splitScope(text: string): string[] {
  if (text === '') throw refuse('scope is empty.', 'Send at least one scope.')
  if (text.includes(','))
    throw refuse(
      'scope is separated by commas.',
      `Use spaces: "${
        text
          .split(/[\s,]+/)
          .filter(isScope)
          .slice(0, 3)
          .join(' ') || 'loyalties rewards'
      }".`,
    )
  if (/[^\x21\x23-\x5b\x5d-\x7e ]/.test(text))
    throw refuse(
      'scope contains an invalid character.',
      'Separate values with one space; no tabs, quotes or line breaks.',
    )
  if (/^ | $| {2}/.test(text))
    throw refuse(
      'scope contains extra spaces.',
      'Separate values with exactly one space, without leading or trailing spaces.',
    )
  const values = text.split(' ')
  if (values.length > SCOPE_VALUES.length)
    throw refuse(
      `scope has ${values.length} values; there are only ${SCOPE_VALUES.length}.`,
      'Send each scope once.',
    )
  return values
}

/** Returns the granted scope, in the requested order and without duplicates. */
export function grantScope(text: string | undefined, permissions: readonly Scope[]): string {
  if (text === undefined)
    throw new Problem('missing_parameters', {
      message: 'scope is missing.',
      details: `This key can request: ${requestableScopes(permissions)}.`,
      oauth: 'invalid_scope',
    })
  const granted = new Set<Scope>()
  for (const value of splitScope(text)) {
    if (!isScope(value)) throw unknown(value, permissions)
    if (!covers(permissions, value))
      throw refuse(
        `This key cannot request "${value}".`,
        `It can request: ${requestableScopes(permissions)}. An operator can add permissions with jeton key update.`,
      )
    granted.add(value)
  }
  return [...granted].join(' ')
}

function unknown(value: string, permissions: readonly Scope[]): Problem {
  const guess = closest(value, SCOPE_VALUES)
  return refuse(
    `"${value.slice(0, 40)}" is not a scope.${guess ? ` Did you mean "${guess}"?` : ''}`,
    `This key can request: ${requestableScopes(permissions)}. Separate values with one space.`,
  )
}
