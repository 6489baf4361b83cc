import type { IncomingHttpHeaders } from 'node:http'
import { Problem } from '../../contract/problem.ts'
import type { Form } from '../../platform/http/index.ts'

/** Credential of a request: none, a key pair, or a bearer token. */
export type Credential =
  | { readonly kind: 'none' }
  | { readonly kind: 'key'; readonly appId: string; readonly appToken: string }
  | { readonly kind: 'bearer'; readonly accessToken: string }

interface PartialCredentials {
  readonly appId: string | undefined
  readonly appToken: string | undefined
}

const conflicting = (): Problem =>
  new Problem('conflicting_credentials', {
    message: 'Two credentials were sent and they differ, or one of them cannot be read.',
    details: 'Send one: X-App-Id and X-App-Token, or Authorization, or client_id and client_secret.',
  })

function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** RFC 6749 §2.3.1 form-encodes both halves before Basic. Several clients do not, so plain values are accepted too. */
function decodeBasicPart(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

function basicCredentials(value: string): PartialCredentials {
  const text = Buffer.from(value, 'base64').toString()
  const colon = text.indexOf(':')
  if (colon < 0) return { appId: decodeBasicPart(text), appToken: undefined }
  return { appId: decodeBasicPart(text.slice(0, colon)), appToken: decodeBasicPart(text.slice(colon + 1)) }
}

/** Combines two pairs. A half that both contain must be equal. */
function merge(a: PartialCredentials, b: PartialCredentials): PartialCredentials {
  if (!isPresent(b)) return a
  const differ = (x: string | undefined, y: string | undefined) =>
    x !== undefined && y !== undefined && x !== y
  if (differ(a.appId, b.appId) || differ(a.appToken, b.appToken)) throw conflicting()
  return { appId: a.appId ?? b.appId, appToken: a.appToken ?? b.appToken }
}

/**
 * Reads the credential of a request. A pair that is sent twice must be identical, because several public clients send it
 * twice. Different credentials are refused as ambiguous.
 */
export function readCredential(
  { headers }: { readonly headers: IncomingHttpHeaders },
  form?: Form,
): Credential {
  const inHeaders: PartialCredentials = {
    appId: header(headers, 'x-app-id'),
    appToken: header(headers, 'x-app-token'),
  }
  // RFC 6749 §3.2: a parameter without a value counts as omitted.
  const inForm: PartialCredentials = {
    appId: form?.get('client_id') || undefined,
    appToken: form?.get('client_secret') || undefined,
  }
  const authorization = header(headers, 'authorization')
  if (authorization === undefined) return asCredential(merge(inHeaders, inForm))
  const [, scheme = '', value = ''] = /^(\S+) +(.*)$/.exec(authorization) ?? []
  if (scheme.toLowerCase() === 'bearer') {
    if (isPresent(inHeaders) || isPresent(inForm)) throw conflicting()
    return { kind: 'bearer', accessToken: value }
  }
  if (scheme.toLowerCase() === 'basic')
    return asCredential(merge(basicCredentials(value), merge(inHeaders, inForm)))
  // An unreadable Authorization header is a second credential beside the pair.
  if (isPresent(inHeaders) || isPresent(inForm)) throw conflicting()
  return { kind: 'none' }
}

const isPresent = ({ appId, appToken }: PartialCredentials): boolean =>
  appId !== undefined || appToken !== undefined

const asCredential = ({ appId, appToken }: PartialCredentials): Credential =>
  appId === undefined || appToken === undefined ? { kind: 'none' } : { kind: 'key', appId, appToken }
