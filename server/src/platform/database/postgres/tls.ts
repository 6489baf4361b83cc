import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { ConnectionOptions, PeerCertificate } from 'node:tls'
import { StartFailure } from '../../start-failure.ts'

const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
type Mode = (typeof MODES)[number]

/** Type of the `ssl` option of `pg`. */
type Tls = false | ConnectionOptions

/** TLS options in the order of attempts. URL parameters have the names and meaning of libpq; the default is no TLS. */
export function tlsAttempts(host: string, parameters: URLSearchParams): Tls[] {
  const mode = modeIn(parameters)
  if (mode === 'disable') return [false]
  const tls = tlsOptions(host, mode, parameters)
  if (mode === 'allow') return [false, tls]
  return mode === 'prefer' ? [tls, false] : [tls]
}

function tlsOptions(host: string, mode: Mode, parameters: URLSearchParams): ConnectionOptions {
  const isUnchecked = mode === 'allow' || mode === 'prefer'
  const ca = isUnchecked ? undefined : authorityIn(parameters)
  return {
    // RFC 6066 §3: an IP address is not a server name.
    ...(isIP(host) === 0 && { servername: host }),
    ...(ca && { ca }),
    // As in libpq, a configured authority is always verified.
    rejectUnauthorized: !isUnchecked && (mode !== 'require' || parameters.has('sslrootcert')),
    checkServerIdentity: (_, certificate) =>
      mode === 'verify-full' ? identityProblem(host, certificate) : undefined,
  }
}

function modeIn(parameters: URLSearchParams): Mode {
  if (parameters.has('ssl'))
    throw new StartFailure(
      `JETON_DATABASE_URL: unknown parameter ssl. Use sslmode=verify-full or another mode.`,
    )
  const given = parameters.get('sslmode') ?? (parameters.has('sslrootcert') ? 'verify-full' : 'disable')
  const mode = MODES.find((one) => one === given)
  if (mode) return mode
  throw new StartFailure(
    `JETON_DATABASE_URL: sslmode=${JSON.stringify(given)} is not one of: ${MODES.join(', ')}.`,
  )
}

function authorityIn(parameters: URLSearchParams): string | undefined {
  const file = parameters.get('sslrootcert')
  if (file === null || file === 'system') return undefined
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new StartFailure(
      `JETON_DATABASE_URL: sslrootcert: cannot read ${file} (${(error as NodeJS.ErrnoException).code}).`,
    )
  }
}

/** Has a Node.js error code, so that it counts as an outage like other TLS failures. */
function identityProblem(host: string, { raw }: PeerCertificate): Error | undefined {
  const certificate = new X509Certificate(raw)
  if (isFor(host, certificate)) return undefined
  const names = certificate.subjectAltName ?? certificate.subject
  return Object.assign(new Error(`the certificate is for ${names}, not for ${host}`), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  })
}

/**
 * Matches like libpq: a host name against the DNS names of the certificate, or against its common name if it has none. An
 * asterisk matches one label. An IP address against the addresses of the certificate, a DNS name with the same text, or
 * the common name if the certificate has no address.
 */
export function isFor(host: string, certificate: X509Certificate): boolean {
  if (isIP(host) === 0) return certificate.checkHost(host, { partialWildcards: false }) !== undefined
  if (certificate.checkIP(host) !== undefined) return true
  const hasAddress = /IP Address:/.test(certificate.subjectAltName ?? '')
  return (
    certificate.checkHost(host, { wildcards: false, subject: hasAddress ? 'never' : 'always' }) !== undefined
  )
}
