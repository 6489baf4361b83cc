import { Problem } from '../../contract/problem.ts'
import { coveredBy, covers, isScope, SCOPE_VALUES, type Scope } from '../../contract/scopes.ts'
import { closest } from '../../platform/closest.ts'

const refuse = (message: string, details: string): Problem =>
  new Problem('invalid_scope', { message, details })

const mayAskFor = (permissions: readonly Scope[]): string => {
  const values = coveredBy(permissions)
  return values.length > 12 ? `${permissions.join(', ')} and all that it covers` : values.join(', ')
}

/** Grammar of RFC 6749 §3.3: single spaces, none at the ends. */
function splitScope(text: string): string[] {
  if (text === '') throw refuse('scope is empty.', 'Name at least one scope.')
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
      'scope has a character that no scope has.',
      'Separate values with one space; no tabs, quotes or line breaks.',
    )
  if (/^ | $| {2}/.test(text))
    throw refuse(
      'scope has a space too many.',
      'Separate values with exactly one space, with none at the ends.',
    )
  const values = text.split(' ')
  if (values.length > SCOPE_VALUES.length)
    throw refuse(
      `scope has ${values.length} values; there are only ${SCOPE_VALUES.length}.`,
      'Name each scope once.',
    )
  return values
}

/** The scope as granted: in the order that was asked for, without duplicates. */
export function grantScope(text: string | undefined, permissions: readonly Scope[]): string {
  if (text === undefined)
    throw new Problem('missing_parameters', {
      message: 'scope is missing.',
      details: `This key may ask for: ${mayAskFor(permissions)}.`,
      oauth: 'invalid_scope',
    })
  const granted = new Set<Scope>()
  for (const value of splitScope(text)) {
    if (!isScope(value)) throw unknown(value, permissions)
    if (!covers(permissions, value))
      throw refuse(
        `This key may not ask for "${value}".`,
        `It may ask for: ${mayAskFor(permissions)}. An operator can permit more with jeton key update.`,
      )
    granted.add(value)
  }
  return [...granted].join(' ')
}

function unknown(value: string, permissions: readonly Scope[]): Problem {
  const guess = closest(value, SCOPE_VALUES)
  return refuse(
    `"${value.slice(0, 40)}" is not a scope.${guess ? ` Did you mean "${guess}"?` : ''}`,
    `This key may ask for: ${mayAskFor(permissions)}. Separate several with one space.`,
  )
}
