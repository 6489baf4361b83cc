import { Problem } from '../../contract/problem.ts'
import type { Vault } from '../../platform/encryption.ts'
import { digestOf, sameDigest } from '../../platform/secrets.ts'
import type { DestinationRow } from './destination.store.ts'

/** Shown in place of a value. A change that sends the mask keeps the stored value. */
export const MASK = '•••'

type Headers = Readonly<Record<string, string>>

/** Set by Jeton or by HTTP itself. Another value would break the signature or the framing. */
const RESERVED = [
  'webhook-.*',
  'x-jeton-.*',
  'x-voucherify-signature',
  'content-type',
  'user-agent',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'traceparent',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** RFC 9110 §5.6.2, without capitals. */
export const HEADER_NAME_PATTERN = `^(?!(${RESERVED.join('|')})$)[a-z0-9!#$%&'*+.^_\`|~-]{1,100}$`

const refused = (name: string, why: string, details: string): Problem =>
  new Problem('invalid_payload', {
    message: `headers: ${JSON.stringify(name.slice(0, 60))} ${why}.`,
    details,
  })

const contextOf = ({ project_id, id }: Pick<DestinationRow, 'project_id' | 'id'>, name: string): string =>
  `destinations/${project_id}/${id}/headers/${name}`

export const sealedHeadersOf = (row: Pick<DestinationRow, 'headers'>): Headers => JSON.parse(row.headers)

export const maskedHeaders = (row: Pick<DestinationRow, 'headers'>): Headers =>
  Object.fromEntries(Object.keys(sealedHeadersOf(row)).map((name) => [name, MASK]))

type HeaderOwner = Pick<DestinationRow, 'project_id' | 'id' | 'headers'>

/** Encrypts values for the store. The mask keeps the stored value, so that a client can read, edit and write back. */
export function sealHeaders(vault: Vault, owner: HeaderOwner, headers: Headers): string {
  const before = sealedHeadersOf(owner)
  const sealed = Object.entries(headers).map(([name, value]) => {
    if (value !== MASK) return [name, vault.seal(value, contextOf(owner, name))]
    if (!Object.hasOwn(before, name))
      throw refused(name, 'has the mask as its value, but no value is stored', 'Send the value itself.')
    return [name, before[name]]
  })
  return JSON.stringify(Object.fromEntries(sealed))
}

/** Decrypts the headers for sending. */
export const openHeaders = (vault: Vault, owner: HeaderOwner): Headers =>
  Object.fromEntries(
    Object.entries(sealedHeadersOf(owner)).map(([name, sealed]) => [
      name,
      vault.open(sealed, contextOf(owner, name)),
    ]),
  )

/** Names whose values differ from the stored ones, and those that are only stored or only given. */
export function differingHeaders(vault: Vault, owner: HeaderOwner, headers: Headers): string[] {
  const stored = openHeaders(vault, owner)
  const names = new Set([...Object.keys(stored), ...Object.keys(headers)])
  return [...names].filter((name) => !isSame(stored[name], headers[name])).sort()
}

/** Compares digests, so that the time of a response says nothing about a stored value. */
const isSame = (stored: string | undefined, given: string | undefined): boolean =>
  stored !== undefined && given !== undefined && sameDigest(digestOf(stored), digestOf(given))

/** Encrypts the same values with the current key. */
export const reencryptHeaders = (vault: Vault, owner: HeaderOwner): string =>
  sealHeaders(vault, { ...owner, headers: '{}' }, openHeaders(vault, owner))
