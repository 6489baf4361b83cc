import { DatabaseError } from 'pg'
import { NotNullViolation, StoreNotWritable, StoreUnavailable, UniqueConflict } from '../database.ts'
import { QUERY_TIMEOUT_MS } from '../deadline.ts'

/** Node.js error codes for a host that cannot be reached. */
const NO_CONNECTION = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
])

/** Node.js error codes for failed TLS. An expired certificate is an outage, not a bug. */
const NO_TLS = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_)/

/** `pg` gives these errors no code. */
const LOST = /^(Connection terminated|Client (has encountered|was closed)|timeout e|Query read timeout)/
const NO_SSL = /SSL connection/
/** The server requires a password, and the URL has none. */
const NO_PASSWORD = /^SASL: .*password must be/
const POOL_EXHAUSTED = 'timeout exceeded when trying to connect'

/**
 * SQLSTATEs after which a retry makes sense: connection (08), resources (53), operator intervention and start-up (57),
 * system error (58), a missing or refused database or user (28, 3D), read-only (25006), and a lock or transaction timeout
 * (55P03, 25P03).
 */
const UNAVAILABLE = /^(08|28|3D|53|57|58)|^(25006|25P03|55P03)$/

/** Those that affect writes only. */
const NOT_WRITABLE: Record<string, StoreNotWritable['why']> = {
  '25006': 'the store is read-only',
  '53100': 'the disk is full',
}

const DEADLOCK = new Set(['40P01', '40001'])

const codeOf = (error: unknown): string => String((error as { code?: unknown })?.code ?? '')

/** If several addresses of a host refuse, Node.js reports one error without a message. */
const messageOf = (error: unknown): string =>
  (error as Error).message || ((error as AggregateError).errors?.[0] as Error)?.message || String(error)

/** True if the connection is lost, not only the statement. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.severity === 'FATAL' || error.severity === 'PANIC'
  return NO_CONNECTION.has(codeOf(error)) || NO_TLS.test(codeOf(error)) || LOST.test(messageOf(error))
}

/** True if all connections of the pool were in use for the whole wait. No host failed. */
export const isPoolExhausted = (error: unknown): boolean => (error as Error)?.message === POOL_EXHAUSTED

/** True if a newer version of Jeton added a column to a table that a prepared statement reads with `select *`. */
export const isOutdatedPlan = (error: unknown): boolean =>
  (error as { routine?: unknown })?.routine === 'RevalidateCachedQuery'

/** True if an earlier statement has aborted the transaction. */
export const isInLostTransaction = (error: unknown): boolean => codeOf(error) === '25P02'

/** True if nothing of the transaction was kept and a retry can succeed. */
export const isWorthRepeating = (error: unknown): boolean =>
  DEADLOCK.has(codeOf(error)) || isOutdatedPlan(error)

export function toStoreError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreUnavailable) return error
  const [code, message] = [codeOf(error), messageOf(error)]
  if (code === '23505') return new UniqueConflict(message)
  if (code === '23502') return new NotNullViolation(message)
  if (NO_TLS.test(code)) return tlsFailure(error)
  if (NO_PASSWORD.test(message))
    return new StoreUnavailable(`PostgreSQL: ${message}`, { cause: { code: '28P01' } })
  if (isPoolExhausted(error))
    return new StoreUnavailable(`No connection to PostgreSQL was free for ${QUERY_TIMEOUT_MS / 1000} s.`)
  const why = NOT_WRITABLE[code]
  if (why) return new StoreNotWritable(`PostgreSQL: ${message}`, why, { cause: error })
  if (isConnectionLost(error) || UNAVAILABLE.test(code) || NO_SSL.test(message))
    return new StoreUnavailable(`PostgreSQL: ${message}`, { cause: error })
  return error
}

function tlsFailure(error: Error): StoreUnavailable {
  // The text after the semicolon is about options of Node.js.
  const why = `PostgreSQL: TLS failed, ${error.message.split(';')[0]}`
  const isName = codeOf(error) === 'ERR_TLS_CERT_ALTNAME_INVALID'
  const remedy = isName ? '' : '. A private authority is named by sslrootcert or NODE_EXTRA_CA_CERTS'
  return new StoreUnavailable(why + remedy, { cause: error })
}
