import { errors } from 'undici'
import { withoutCredentials } from '../../contract/ids.ts'
import { certificateOf } from './connect.ts'
import { BlockedAddress } from './guard.ts'
import { MAX_RESPONSE_BYTES, ResponseTooLarge } from './watch-responses.ts'

/** Progress of a send when it ended. */
export interface Progress {
  readonly url: URL
  /** Wall clock, epoch milliseconds. */
  readonly now: number
  /** Time until the connection was ready for the request; null before. */
  readonly connectMs: number | null
  readonly isHandshaking: boolean
  /** Status of the response; null before its headers. */
  readonly status: number | null
  /** Bytes of the body so far. `length` is the announced total. */
  readonly received: number
  readonly length: number | null
}

type Message = (progress: Progress, error: NodeJS.ErrnoException) => string

const closed: Message = ({ connectMs, url }) => {
  if (connectMs !== null) return 'closed the connection without an answer'
  return url.protocol === 'https:'
    ? 'closed the connection during the TLS handshake'
    : 'closed the connection immediately'
}
const unreachable: Message = ({ url }) => `no route to ${url.hostname}`
const noConnection: Message = ({ url }) => `no connection to ${url.hostname} in time`
const untrusted: Message = () =>
  'certificate is not trusted: its authority is unknown here, or an intermediate certificate is missing'

const NOT_HTTP = 'answered with something that is not HTTP'

/** Messages by error code. The error's own message is never used, because it contains local addresses. */
const MESSAGES: Readonly<Record<string, Message>> = {
  ENOTFOUND: ({ url }) => `the name ${url.hostname} was not found`,
  ENODATA: ({ url }) => `the name ${url.hostname} has no address`,
  EAI_AGAIN: ({ url }) => `the name ${url.hostname} could not be resolved`,
  ETIMEOUT: ({ url }) => `the name ${url.hostname} could not be resolved: its name servers do not answer`,
  ECONNREFUSED: () => 'connection refused',
  ECONNRESET: closed,
  EPIPE: closed,
  UND_ERR_SOCKET: (progress, error) =>
    error.message.startsWith('bad ') ? 'answered with 1xx, which was not asked for' : closed(progress, error),
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  EADDRNOTAVAIL: unreachable,
  ETIMEDOUT: noConnection,
  UND_ERR_CONNECT_TIMEOUT: noConnection,
  UND_ERR_HEADERS_OVERFLOW: () => 'answered with headers of more than 16 KB',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: () => NOT_HTTP,
  // undici asserts what every response must have, such as a status of at least 100.
  ERR_ASSERTION: () => NOT_HTTP,
  CERT_HAS_EXPIRED: ({ now }, error) => expiredMessage(error, now),
  CERT_NOT_YET_VALID: () => 'certificate is not valid yet',
  CERT_REVOKED: () => 'certificate was revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: () => 'certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  CERT_SIGNATURE_FAILURE: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: ({ url }, error) =>
    `certificate is for ${namesIn(error)}, not for ${url.hostname}`,
  ERR_SSL_WRONG_VERSION_NUMBER: () => 'does not speak TLS on this port; is it plain http?',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: () => 'does not speak TLS on this port; is it plain http?',
  EMFILE: () => 'this process has too many open files',
}

/** True if the receiver violated HTTP. An early end of the connection is reported as the same error. */
const brokeHttp = (error: Error): boolean =>
  error instanceof errors.HTTPParserError && !error.message.includes('EOF')

/** Explains why there was no complete response, for the record of attempts. */
export function failureMessage(error: Error, progress: Progress): string {
  if (error instanceof BlockedAddress) return error.message
  if (error instanceof ResponseTooLarge)
    return `sent more than ${MAX_RESPONSE_BYTES / 1024 ** 2} MB as one answer`
  if (progress.status !== null) return truncatedMessage(error, progress)
  if (brokeHttp(error)) return NOT_HTTP
  const code = (error as NodeJS.ErrnoException).code ?? ''
  return (MESSAGES[code] ?? messageOfFamily(code))(progress, error)
}

/** For failures after the headers of the response. */
function truncatedMessage(error: NodeJS.ErrnoException, progress: Progress): string {
  const answered = `answered ${progress.status} but`
  if (error.code === 'UND_ERR_HEADERS_OVERFLOW') return `${answered} sent trailers without end`
  return `${answered} ${brokeHttp(error) ? 'violated HTTP' : 'closed'} after ${bytesOf(progress)}`
}

const bytesOf = ({ received, length }: Progress): string =>
  length === null ? `${received} ${received === 1 ? 'byte' : 'bytes'}` : `${received} of ${length} bytes`

export function deadlineMessage(progress: Progress, deadlineMs: number): string {
  const limit = `${deadlineMs / 1000} s`
  const { status, connectMs, isHandshaking } = progress
  if (status !== null) return `answered ${status} but did not finish within ${limit} (${bytesOf(progress)})`
  if (connectMs !== null) return `no answer within ${limit} (connected in ${Math.round(connectMs)} ms)`
  return isHandshaking
    ? `no TLS within ${limit} (connected, but the handshake did not end)`
    : `no connection within ${limit}`
}

function messageOfFamily(code: string): Message {
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') return () => `TLS failed${tlsReason(code)}`
  if (code.startsWith('CERT_')) return () => `certificate is not accepted (${code})`
  if (code.startsWith('EAI_') || code.startsWith('EBAD')) return MESSAGES.EAI_AGAIN!
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

/** The expired certificate may also be that of an authority. */
function expiredMessage(error: Error, now: number): string {
  const expired = Date.parse(certificateOf(error)?.valid_to ?? '')
  return expired < now
    ? `certificate expired ${ago(now - expired)}`
    : 'a certificate in the chain has expired'
}

const NAMES_SHOWN = 3

/** Parses `DNS:a.example, DNS:b.example`. */
function namesIn(error: Error): string {
  const text = (error as { cert?: { subjectaltname?: string } }).cert?.subjectaltname ?? ''
  const names = text.match(/(?<=(DNS|IP Address):)[\w.*:-]{1,100}/g) ?? []
  return names.slice(0, NAMES_SHOWN).join(', ') + (names.length > NAMES_SHOWN ? ', …' : '') || 'nobody'
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])
const WEB = /^https?:$/
const MAX_LOCATION_LENGTH = 300

/** Omits the query of the new location, which may contain a token, and a path that may be a secret of the target. */
export function redirectMessage(status: number | null, location: string | null, from: URL): string | null {
  if (status === null || !REDIRECTS.has(status)) return null
  const target = location === null ? null : URL.parse(location, from.href)
  const isSame = target?.origin === from.origin && target.pathname === from.pathname
  const isWeb = target && WEB.test(target.protocol)
  const where = isSame ? 'to itself' : isWeb ? `to ${target.origin}${target.pathname}` : 'elsewhere'
  return `redirected ${withoutCredentials(where).slice(0, MAX_LOCATION_LENGTH)}; redirects are not followed`
}
