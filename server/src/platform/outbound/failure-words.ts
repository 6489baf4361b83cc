import { HEADERS_MAX_BYTES, HeadersTooLong, NotHttp, Unasked } from './answer-reader.ts'
import { certificateOf } from './connect.ts'
import { Unreachable } from './guard.ts'

/** What is known of a send that got no answer. */
interface Circumstances {
  readonly host: string
  readonly protocol: string
  /** The request was on its way over an open connection. */
  readonly underWay: boolean
  /** Wall clock, epoch milliseconds. */
  readonly now: number
}

type Words = (circumstances: Circumstances, error: NodeJS.ErrnoException) => string

const closed: Words = ({ underWay, protocol }) => {
  if (underWay) return 'closed the connection without an answer'
  return protocol === 'https:'
    ? 'closed the connection during the TLS handshake'
    : 'closed the connection at once'
}
const unreachable: Words = ({ host }) => `no way to ${host} from here`
const noConnection: Words = ({ host }) => `no connection to ${host} in time`
const untrusted: Words = () =>
  'certificate is not trusted: its authority is unknown here, or an intermediate certificate is missing'

/** By code; never the error's own message, which holds addresses of this machine. */
const WORDS: Readonly<Record<string, Words>> = {
  ENOTFOUND: ({ host }) => `the name ${host} was not found`,
  ENODATA: ({ host }) => `the name ${host} has no address`,
  EAI_AGAIN: ({ host }) => `the name ${host} could not be looked up`,
  ETIMEOUT: ({ host }) => `the name ${host} could not be looked up: its name servers do not answer`,
  ECONNREFUSED: () => 'connection refused',
  ECONNRESET: closed,
  EPIPE: closed,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  EADDRNOTAVAIL: unreachable,
  ETIMEDOUT: noConnection,
  CERT_HAS_EXPIRED: ({ now }, error) => expiredWords(error, now),
  CERT_NOT_YET_VALID: () => 'certificate is not valid yet',
  CERT_REVOKED: () => 'certificate was revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: () => 'certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  CERT_SIGNATURE_FAILURE: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: ({ host }, error) => `certificate is for ${namesIn(error)}, not for ${host}`,
  ERR_SSL_WRONG_VERSION_NUMBER: () => 'does not speak TLS on this port; is it plain http?',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: () => 'does not speak TLS on this port; is it plain http?',
  EMFILE: () => 'this process has too many open files',
}

/** Why there was no answer, for the record of attempts. */
export function sendFailureWords(error: Error, circumstances: Circumstances): string {
  if (error instanceof Unreachable || error instanceof Unasked) return error.message
  if (error instanceof HeadersTooLong)
    return `answered with headers of more than ${HEADERS_MAX_BYTES / 1024} KB`
  if (error instanceof NotHttp)
    return `answered with something that is not HTTP${error.message && ` (${error.message})`}`
  const code = (error as NodeJS.ErrnoException).code ?? ''
  const words = WORDS[code] ?? familyOf(code)
  return words(circumstances, error)
}

function familyOf(code: string): Words {
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') return () => `TLS failed${tlsReason(code)}`
  if (code.startsWith('CERT_')) return () => `certificate is not accepted (${code})`
  if (code.startsWith('EAI_') || code.startsWith('EBAD')) return WORDS.EAI_AGAIN!
  return () => `could not be sent (${code || 'no reason given'})`
}

/** `ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION` becomes `: tlsv1 alert protocol version`. */
const tlsReason = (code: string): string =>
  code === 'EPROTO' ? '' : `: ${code.slice('ERR_SSL_'.length).toLowerCase().replaceAll('_', ' ')}`

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

function ago(ms: number): string {
  const [unit, size] = UNITS.find(([, size]) => ms >= size) ?? UNITS.at(-1)!
  const count = Math.max(1, Math.floor(ms / size))
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`
}

/** The one that expired may also be that of an authority. */
function expiredWords(error: Error, now: number): string {
  const expired = Date.parse(certificateOf(error)?.valid_to ?? '')
  return expired < now
    ? `certificate expired ${ago(now - expired)}`
    : 'a certificate in the chain has expired'
}

const NAMES_SHOWN = 3

/** `DNS:a.example, DNS:b.example`, as Node spells them. */
function namesIn(error: Error): string {
  const text = (error as { cert?: { subjectaltname?: string } }).cert?.subjectaltname ?? ''
  const names = text.match(/(?<=(DNS|IP Address):)[\w.*:-]{1,100}/g) ?? []
  return names.slice(0, NAMES_SHOWN).join(', ') + (names.length > NAMES_SHOWN ? ', …' : '') || 'nobody'
}
