import { Problem } from '../../contract/problem.ts'
import type { Vault } from '../../platform/encryption.ts'
import type { DestinationRow } from './destination.store.ts'

/** What reads and the audit log show in place of a value. Sent back in a change, it means "as it is". */
export const MASK = '•••'

type Headers = Readonly<Record<string, string>>

/** Made by us for every send, or by HTTP itself: someone else's value would break the signature or the framing. */
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

const placeOf = ({ project_id, id }: Pick<DestinationRow, 'project_id' | 'id'>, name: string): string =>
  `destinations/${project_id}/${id}/headers/${name}`

export const sealedHeadersOf = (row: Pick<DestinationRow, 'headers'>): Headers => JSON.parse(row.headers)

export const maskedHeaders = (row: Pick<DestinationRow, 'headers'>): Headers =>
  Object.fromEntries(Object.keys(sealedHeadersOf(row)).map((name) => [name, MASK]))

type Keeper = Pick<DestinationRow, 'project_id' | 'id' | 'headers'>

/** For the store. A masked value keeps what was there: whoever reads, changes one field and writes back loses nothing. */
export function sealHeaders(vault: Vault, keeper: Keeper, headers: Headers): string {
  const before = sealedHeadersOf(keeper)
  const sealed = Object.entries(headers).map(([name, value]) => {
    if (value !== MASK) return [name, vault.seal(value, placeOf(keeper, name))]
    if (!Object.hasOwn(before, name))
      throw refused(name, 'has the mask as its value, and there is none to keep', 'Send the value itself.')
    return [name, before[name]]
  })
  return JSON.stringify(Object.fromEntries(sealed))
}

/** As they are sent. */
export const openHeaders = (vault: Vault, keeper: Keeper): Headers =>
  Object.fromEntries(
    Object.entries(sealedHeadersOf(keeper)).map(([name, sealed]) => [
      name,
      vault.open(sealed, placeOf(keeper, name)),
    ]),
  )

/** The same values, under the key that the vault seals with now. */
export const sealHeadersAnew = (vault: Vault, keeper: Keeper): string =>
  sealHeaders(vault, { ...keeper, headers: '{}' }, openHeaders(vault, keeper))
