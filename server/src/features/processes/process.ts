import { isoTime } from '../../platform/http/index.ts'

/** A process answers requests, delivers events, or does both. */
export type ProcessRole = 'http' | 'worker' | 'both'

/** The part of a row that stays the same for as long as a process runs. */
export interface ProcessIdentity {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly version: string
  readonly role: ProcessRole
}

/** The cache of a process that answers requests; null for workers, which have none. */
export interface CacheFigures {
  /** The number of key changes that its last completed poll had read when it started. */
  readonly key_state_version: number | null
  readonly key_state_age_ms: number | null
  readonly cached_tokens: number | null
  readonly cache_hits: number | null
  readonly cache_misses: number | null
}

export interface ProcessRow extends ProcessIdentity, CacheFigures {
  readonly started_at: number
  /** Time of the last heartbeat, by the clock of the store. */
  readonly seen_at: number
  readonly event_loop_delay_p99_us: number | null
  readonly rss_bytes: number
}

/** A process is listed for this long after its last heartbeat. */
export const LISTED_FOR_MS = 30_000

/**
 * A cached key state is trusted for 30 s after a poll, and a poll may be one heartbeat newer than the last heartbeat. So a
 * process that was not heard of for less than this may still accept a token that it should refuse.
 */
export const MAY_ANSWER_FOR_MS = LISTED_FOR_MS + 5_000

/** The age of the key state is never understated: the time since the heartbeat is added to what the process reported. */
export const processView = (row: ProcessRow, now: number) => ({
  id: row.id,
  object: 'process' as const,
  host: row.host,
  pid: row.pid,
  version: row.version,
  role: row.role,
  started_at: isoTime(row.started_at),
  seen_at: isoTime(row.seen_at),
  key_state_age_ms:
    row.key_state_age_ms === null ? null : row.key_state_age_ms + Math.max(0, now - row.seen_at),
  cached_tokens: row.cached_tokens,
  cache_hit_rate: hitRateOf(row),
  event_loop_delay_p99_ms: row.event_loop_delay_p99_us === null ? null : row.event_loop_delay_p99_us / 1000,
  rss_bytes: row.rss_bytes,
})

/** Four digits, null before the first look-up. */
function hitRateOf({ cache_hits: hits, cache_misses: misses }: CacheFigures): number | null {
  if (hits === null || misses === null || hits + misses === 0) return null
  return Math.round((hits / (hits + misses)) * 10_000) / 10_000
}
