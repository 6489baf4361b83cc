import { type Scope, scopeOfPath } from '../../contract/scopes.ts'
import { pathOf } from '../../platform/http/index.ts'

/** What different servers read differently, and what it is called. */
const HOSTILE = [
  {
    pattern: /[\x00-\x20\x7f-\uffff]/,
    says: 'a control character, a space or a character that must be encoded',
  },
  { pattern: /[\\;#]/, says: 'a backslash, a semicolon or a number sign' },
  { pattern: /\/\//, says: 'an empty segment (//)' },
  { pattern: /\.\./, says: 'two dots' },
  { pattern: /\/\.(\/|$)/, says: 'a segment that is a dot' },
  { pattern: /%(?![0-9a-f]{2})/i, says: 'bad percent-encoding' },
  { pattern: /%(25)*(2e|2f|5c|0|1|7f)/i, says: 'an encoded slash, dot, backslash or control character' },
]

/** Why a path is refused, or null. Never normalised: what we and the API behind would read differently is turned away. */
export function hostilePath(path: string): string | null {
  if (!path.startsWith('/')) return 'no slash at its beginning'
  return HOSTILE.find(({ pattern }) => pattern.test(path))?.says ?? notUtf8(path)
}

/** Overlong sequences such as %c0%ae are a dot to some. */
function notUtf8(path: string): string | null {
  if (!path.includes('%')) return null
  try {
    decodeURIComponent(path)
    return null
  } catch {
    return 'an encoding that is not UTF-8'
  }
}

export type PathVerdict =
  | { readonly ok: true; readonly needed: Scope }
  | { readonly ok: false; readonly says: string }

/** Which scope a call to the path needs. */
export function judgePath(uri: string): PathVerdict {
  const path = pathOf(uri)
  const hostile = hostilePath(path)
  if (hostile !== null) return { ok: false, says: `the path has ${hostile}` }
  const needed = scopeOfPath(path)
  return needed === null
    ? { ok: false, says: 'the path is outside of /v1 and /client/v1' }
    : { ok: true, needed }
}
