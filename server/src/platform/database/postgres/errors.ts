import { NotNullViolation, StoreNotWritable, StoreUnavailable, UniqueConflict } from '../database.ts'

/** Names that `postgres` and Node give to a connection that is not there. */
const NO_CONNECTION = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
])

/** Names that Node gives to TLS that did not come about: a certificate that has run out meanwhile is an outage, not a bug. */
const NO_TLS = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_)/

/**
 * SQLSTATE classes after which trying again makes sense: connection (08), resources (53), operator's intervention and
 * start-up (57), system error (58), the database or the user is not there or no longer let in (28, 3D); and of the rest:
 * read-only (a standby, 25006), a lock or a transaction that took too long (55P03, 25P03).
 */
const UNAVAILABLE = /^(08|28|3D|53|57|58)|^(25006|25P03|55P03)$/

/** Of these the ones that concern writes alone. */
const NOT_WRITABLE: Record<string, StoreNotWritable['why']> = {
  '25006': 'the store is read-only',
  '53100': 'the disk is full',
}

const DEADLOCK = new Set(['40P01', '40001'])

export const codeOf = (error: unknown): string => String((error as { code?: unknown })?.code ?? '')

/** The connection itself is gone, not only the statement. */
export const isDisconnect = (error: unknown): boolean =>
  NO_CONNECTION.has(codeOf(error)) || NO_TLS.test(codeOf(error))

/** A column was added, by a newer version of the program, to a table that a statement reads all columns of. */
const isOutdated = (error: unknown): boolean =>
  (error as { routine?: unknown })?.routine === 'RevalidateCachedQuery'

/** Nothing of the transaction was kept, and the same one will go through: the driver has forgotten an outdated statement. */
export const isWorthRepeating = (error: unknown): boolean => DEADLOCK.has(codeOf(error)) || isOutdated(error)

export function translate(error: unknown): unknown {
  const code = codeOf(error)
  if (code === '23505') return new UniqueConflict((error as Error).message)
  if (code === '23502') return new NotNullViolation((error as Error).message)
  if (NO_TLS.test(code)) {
    // What Node adds after the semicolon is about its own options.
    const why = `PostgreSQL: TLS failed, ${(error as Error).message.split(';')[0]}`
    const isName = code === 'ERR_TLS_CERT_ALTNAME_INVALID'
    const remedy = isName ? '' : '. A private authority is named by sslrootcert or NODE_EXTRA_CA_CERTS'
    return new StoreUnavailable(why + remedy, { cause: error })
  }
  const why = NOT_WRITABLE[code]
  if (why) return new StoreNotWritable(`PostgreSQL: ${(error as Error).message}`, why, { cause: error })
  if (NO_CONNECTION.has(code) || UNAVAILABLE.test(code))
    return new StoreUnavailable(`PostgreSQL: ${(error as Error).message}`, { cause: error })
  return error
}
