import { isUtf8 } from 'node:buffer'
import { type Scope, scopeOfPath } from '../../contract/scopes.ts'
import { pathOf } from '../../platform/http/index.ts'

/** Patterns that servers parse differently, with their names. */
const AMBIGUOUS = [
  {
    pattern: /[\x00-\x20\x7f-\uffff]/,
    says: 'a control character, a space or a character that must be encoded',
  },
  { pattern: /[\\;#]/, says: 'a backslash, a semicolon or a number sign' },
  { pattern: /\/\//, says: 'an empty segment (//)' },
  { pattern: /\.\./, says: 'two dots' },
  { pattern: /\/\.(\/|$)/, says: 'a segment that is a dot' },
  { pattern: /%(?![0-9a-f]{2})/i, says: 'bad percent-encoding' },
]

/** Returns why a path is refused, or null. Paths are not normalised, because the API behind may do it differently. */
export function ambiguityIn(path: string): string | null {
  if (!path.startsWith('/')) return 'no leading slash'
  return AMBIGUOUS.find(({ pattern }) => pattern.test(path))?.says ?? hiddenByEncoding(path)
}

/** An API behind a decoding proxy may decode two or three times. Deeper encodings have no legitimate use. */
const MAX_DECODINGS = 5
const ENCODED = /%[0-9a-f]{2}/i
const EVERY_ENCODED = /%[0-9a-f]{2}/gi
const FORBIDDEN_ENCODED = /%(2e|2f|5c|0[0-9a-f]|1[0-9a-f]|7f)/i

/**
 * Decodes the path layer by layer and refuses a slash, dot, backslash or control character in any layer. A `%` without
 * two hex digits is literal, as in lenient decoders. Bytes must be UTF-8 in every layer, because some decoders read
 * overlong sequences such as %c0%ae as a dot.
 */
function hiddenByEncoding(path: string): string | null {
  let text = path
  for (let decodings = 0; ENCODED.test(text); decodings++) {
    if (decodings === MAX_DECODINGS) return `more than ${MAX_DECODINGS} layers of percent-encoding`
    if (FORBIDDEN_ENCODED.test(text)) return 'an encoded slash, dot, backslash or control character'
    text = text.replace(EVERY_ENCODED, byteOf)
    if (!isUtf8(Buffer.from(text, 'latin1'))) return 'an encoding that is not UTF-8'
  }
  return null
}

const byteOf = (encoded: string): string => String.fromCharCode(Number.parseInt(encoded.slice(1), 16))

export type PathVerdict =
  | { readonly ok: true; readonly requiredScope: Scope }
  | { readonly ok: false; readonly says: string }

/** Validates the path and returns the scope that it requires. */
export function requiredScopeOf(uri: string): PathVerdict {
  const path = pathOf(uri)
  const ambiguity = ambiguityIn(path)
  if (ambiguity !== null) return { ok: false, says: `the path has ${ambiguity}` }
  const requiredScope = scopeOfPath(path)
  return requiredScope === null
    ? { ok: false, says: 'the path is outside of /v1 and /client/v1' }
    : { ok: true, requiredScope }
}
