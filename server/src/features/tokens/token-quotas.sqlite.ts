import { copyText } from '../../platform/copy-text.ts'
import type { WriterContext } from '../../platform/database/index.ts'
import { SECOND_MS, secondAfter } from './token.ts'

type Prepare = WriterContext['prepare']

/** Tokens that a project, or a key with its own limit, can still issue. */
export interface Quota {
  /** Project id, then key id for a quota of a key. */
  readonly ids: readonly string[]
  readonly limit: number | null
  /** Negative if the limit was lowered. */
  credits: number
  /** When the next active token expires; no credit is free earlier. Null if unknown. */
  fullUntil: number | null
}

interface KeyQuota extends Quota {
  readonly project: Quota
  readonly state: string
  readonly epoch: number
  readonly version: number
}

/** Issue time of a batch, and expiry of its tokens. No token expires later. */
interface IssueTime {
  readonly now: number
  readonly expiresAt: number
}

/** Reads a key with its project in one query, as an array (measured: 5.8 instead of 8.4 µs per token). */
const FIND = `select k.state, k.epoch, k.version, k.token_limit, k.credits, k.full_until,
  p.token_limit, p.credits, p.full_until
  from api_keys k join projects p on p.id = k.project_id and p.deleted_at is null where k.project_id = ? and k.id = ?`
type Limit = [limit: number | null, credits: number, fullUntil: number | null]
type Found = [state: string, epoch: number, version: number, ...Limit, ...Limit]

const ADD_TO_COUNT = `insert into token_counts (project_id, expires_at, key_id, epoch, n) values (?, ?, ?, ?, 1)
  on conflict do update set n = n + 1`
const SAVE_PROJECT = 'update projects set credits = ?, full_until = ? where id = ?'
const SAVE_KEY = 'update api_keys set credits = ?, full_until = ? where project_id = ? and id = ?'

/**
 * Counts tokens that expire between two seconds. `token_counts` is ordered by time, so this looks up each second between
 * the first and the last stored one.
 */
const countText = (what: string, ofKey: string): string => `
  with recursive seconds(at, last) as (
    select at, last from (
      select max(?1, (select min(expires_at) from token_counts)) as at,
        min(?2, (select max(expires_at) from token_counts)) as last
    ) where at <= last
    union all select at + ${SECOND_MS}, last from seconds where at < last
  )
  select ${what} from seconds
  cross join token_counts t on t.expires_at = seconds.at and t.project_id = ?3 ${ofKey} and t.n > 0
  join api_keys k on k.project_id = t.project_id and k.id = t.key_id and k.epoch = t.epoch`
const countTexts = (ofKey: string) => ({
  sum: countText('coalesce(sum(t.n), 0) as n, min(seconds.at) as first', ofKey),
  next: `${countText('seconds.at as first', ofKey)} limit 1`,
})
const OF_PROJECT = countTexts('')
const OF_KEY = countTexts('and t.key_id = ?4')

const quotaOf = (ids: readonly string[], [limit, credits, fullUntil]: Limit): Quota => ({
  ids,
  limit,
  credits,
  fullUntil,
})

/** Limits the memory of the writer thread. */
const MAX_KEYS = 20_000

const cache = new WeakMap<object, TokenQuotas>()

/** Reuses quotas across batches while nothing else writes to the database: reading them again cost 8 µs per token. */
export function quotasFor({ prepare, unchangedSince }: WriterContext, time: IssueTime): TokenQuotas {
  const cached = cache.get(unchangedSince)
  const quotas = cached?.isReusable ? cached : new TokenQuotas(prepare)
  cache.set(unchangedSince, quotas)
  quotas.begin(time)
  return quotas
}

class TokenQuotas {
  readonly #prepare: Prepare
  #time: IssueTime = { now: 0, expiresAt: 0 }
  readonly #projects = new Map<string, Quota>()
  readonly #keys = new Map<string, KeyQuota | undefined>()
  readonly #changed = new Set<Quota>()
  #hasIssued = false
  #isReusable = true

  constructor(prepare: Prepare) {
    this.#prepare = prepare
  }

  get isReusable(): boolean {
    return this.#isReusable && this.#keys.size < MAX_KEYS
  }

  begin(time: IssueTime): void {
    this.#time = time
    this.#hasIssued = false
    this.#changed.clear()
  }

  find(projectId: string, keyId: string): KeyQuota | undefined {
    const name = `${projectId} ${keyId}`
    // Copied, because substrings would keep the whole message in memory.
    if (!this.#keys.has(name))
      this.#keys.set(copyText(name), this.#read(copyText(projectId), copyText(keyId)))
    return this.#keys.get(name)
  }

  #read(projectId: string, keyId: string): KeyQuota | undefined {
    const select = this.#prepare(FIND)
    select.setReturnArrays(true)
    const row = select.get(projectId, keyId) as never as Found | undefined
    if (!row) return undefined
    const [state, epoch, version, limit, credits, fullUntil, ...ofProject] = row
    const project = this.#projects.get(projectId) ?? quotaOf([projectId], ofProject)
    this.#projects.set(projectId, project)
    return { ...quotaOf([projectId, keyId], [limit, credits, fullUntil]), project, state, epoch, version }
  }

  hasRemaining(quota: Quota): boolean {
    const mayHaveExpired = quota.fullUntil === null || quota.fullUntil <= this.#time.now
    if (quota.credits <= 0 && mayHaveExpired) this.#refill(quota)
    return quota.credits > 0
  }

  /**
   * Returns the credits of expired tokens. No token has expired before `fullUntil`, so usually only the seconds since then are
   * read. If that is not enough (for example after revocations), all active tokens are counted.
   */
  #refill(quota: Quota): void {
    const { now, expiresAt } = this.#time
    this.#changed.add(quota)
    if (quota.fullUntil !== null) {
      quota.credits += this.#sum(quota, quota.fullUntil, now).n
      if (quota.credits > 0) quota.fullUntil = this.#next(quota)
    }
    if (quota.credits > 0) return
    const { n, first } = this.#sum(quota, secondAfter(now), expiresAt)
    quota.credits = quota.limit! - n
    quota.fullUntil = first
  }

  #sum({ ids }: Quota, from: number, to: number): { n: number; first: number | null } {
    const { sum } = ids.length === 1 ? OF_PROJECT : OF_KEY
    return this.#prepare(sum).get(from, to, ...ids) as never
  }

  #next({ ids }: Quota): number | null {
    const { next } = ids.length === 1 ? OF_PROJECT : OF_KEY
    const { now, expiresAt } = this.#time
    const found = this.#prepare(next).get(secondAfter(now), expiresAt, ...ids) as
      | { first: number }
      | undefined
    return found?.first ?? null
  }

  /** Takes a credit and counts the token. */
  take(key: KeyQuota): void {
    this.#hasIssued = true
    for (const quota of [key, key.project]) {
      if (quota.limit === null) continue
      quota.credits--
      this.#changed.add(quota)
    }
    this.#prepare(ADD_TO_COUNT).run(key.ids[0]!, this.#time.expiresAt, key.ids[1]!, key.epoch)
  }

  /**
   * Saves credits of expired tokens only if the batch issued a token, which fixes its time for all later batches. Otherwise a
   * clock that is ahead and goes back would leave credits of tokens that are still active.
   */
  save(): void {
    for (const { ids, credits, fullUntil } of this.#changed)
      if (this.#hasIssued || credits <= 0)
        this.#prepare(ids.length === 1 ? SAVE_PROJECT : SAVE_KEY).run(credits, fullUntil, ...ids)
      else this.#isReusable = false
  }
}
