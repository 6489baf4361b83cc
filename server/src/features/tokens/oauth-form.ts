import { Problem } from '../../contract/problem.ts'
import { normalizeIp } from '../../platform/addresses.ts'
import type { Form } from '../../platform/http/index.ts'

/** Readers of the OAuth form fields, called in the order in which errors are reported. */

const missing = (name: string, details: string): Problem =>
  new Problem('missing_parameters', { message: `${name} is missing.`, details })

export function checkGrantType(form: Form): void {
  const grantType = form.get('grant_type')
  if (grantType === undefined) throw missing('grant_type', 'Send grant_type=client_credentials.')
  if (grantType !== 'client_credentials')
    throw new Problem('invalid_grant_type', {
      message: `grant_type ${JSON.stringify(grantType.slice(0, 40))} is not supported.`,
      details: 'The only grant is client_credentials.',
    })
}

/** Reads `access_token`, or `token` as in the RFCs. Both must be equal if both are sent. */
export function readTokenParameter(form: Form): string {
  const [first, second] = [form.get('access_token'), form.get('token')]
  const token = first || second || (first ?? second)
  if (token === undefined) throw missing('access_token', 'Send the token as access_token or as token.')
  if (second && second !== token)
    throw new Problem('duplicate_parameter', {
      message: 'access_token and token differ.',
      details: 'Send one of them.',
    })
  return token
}

export function readIpParameter(form: Form): string | undefined {
  const text = form.get('ip_address')
  if (text === undefined) return undefined
  const address = normalizeIp(text)
  if (address !== null) return address
  throw new Problem('invalid_payload', {
    message: 'ip_address is not an IP address.',
    details: 'Send the address of your client, such as 10.0.0.4 or 2001:db8::1, or omit it.',
  })
}
