import { isoTime } from '../../platform/http/index.ts'

export interface SessionRow {
  id: string
  digest: Uint8Array
  operator_id: string
  /** Address of the browser when it signed in. */
  address: string | null
  created_at: number
  last_used_at: number
  expires_at: number
}

export interface LoginCodeRow {
  digest: Uint8Array
  operator_id: string
  expires_at: number
}

export const MAX_SESSION_MS = 12 * 60 * 60_000
export const MAX_IDLE_MS = 60 * 60_000
/** Last use is written at most this often. A session may so end up to a minute early, never late. */
export const USE_EVERY_MS = 60_000
export const MAX_SESSIONS = 20
export const LOGIN_CODE_MS = 60_000

export const isLive = ({ expires_at, last_used_at }: SessionRow, now: number): boolean =>
  now < expires_at && now < last_used_at + MAX_IDLE_MS

/** A session as operators see it: never its cookie, not even the digest. */
export const sessionView = (row: SessionRow) => ({
  id: row.id,
  object: 'session' as const,
  operator_id: row.operator_id,
  address: row.address,
  created_at: isoTime(row.created_at),
  last_used_at: isoTime(row.last_used_at),
  expires_at: isoTime(row.expires_at),
})
