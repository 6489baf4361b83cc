import type { ProgramContext } from '../../platform/database/index.ts'
import { ownText } from '../../platform/own-text.ts'
import { LIFETIME_MS, SECOND_MS, secondAfter } from './token.ts'

export interface IssueTime {
  readonly now: number
  /** When what is issued now expires: a whole second, never before what was issued earlier, and after all that is counted. */
  readonly expiresAt: number
  /** When the last of all tokens expires. */
  readonly latest: number
  /** Tokens that expire up to this second are in `token_counts`, and no others. */
  readonly counted: number
}

/** A project or a key, with the places that it has left. */
export interface Quota {
  readonly where: readonly string[]
  readonly limit: number | null
  /** Less than none where the limit was lowered. */
  credits: number
  fullUntil: number | null
  /** When its tokens were last counted here. */
  countedAt: number | null
  /** As they are in the store. */
  creditsStored: number
  fullUntilStored: number | null
  /** Used by an earlier batch, and nobody else has written since. */
  isAlone: boolean
  /** How many tokens it was given here in the last second in which it was given any, and which that is. */
  given: number
  givenIn: number
}

export interface KeyQuota extends Quota {
  readonly project: Quota
  readonly state: string
  readonly epoch: number
  readonly version: number
}

const ALIVE = 'join api_keys k on k.project_id = t.project_id and k.id = t.key_id and k.epoch = t.epoch'
/** Second by second, since a project's do not lie together; from the first that is there at all, which may lie behind the last. */
const countedIn = (what: string, ofKey: string) => `
  with recursive seconds(at) as (
    select at from (select max(?1, (select min(expires_at) from token_counts)) as at) where at <= ?2
    union all select at + ${SECOND_MS} from seconds where at + ${SECOND_MS} <= ?2
  )
  select ${what} from seconds
  cross join token_counts t on t.expires_at = seconds.at and t.project_id = ? ${ofKey} and t.n > 0 ${ALIVE}`
const COUNT_SECONDS = `insert into token_counts (project_id, expires_at, key_id, epoch, n)
  select project_id, expires_at, key_id, epoch, count(*) from tokens
  where expires_at > ? and expires_at <= ? and revoked_at is null group by expires_at, project_id, key_id, epoch`
const COUNT_SECOND = `select t.project_id, t.key_id, count(*) as n from tokens t ${ALIVE}
  where t.expires_at = ? and t.revoked_at is null group by t.project_id, t.key_id`

/** A key with its project, in one look-up instead of two, and as a list (measured: 5.8 instead of 8.4 µs a token). */
const KEY = `select k.state, k.epoch, k.version, k.token_limit, k.credits, k.full_until,
  p.token_limit, p.credits, p.full_until
  from api_keys k join projects p on p.id = k.project_id and p.deleted_at is null where k.project_id = ? and k.id = ?`
type KeyRow = [state: string, epoch: number, version: number, ...Limit, ...Limit]
type Limit = [limit: number | null, credits: number, fullUntil: number | null]

const quotaOf = (where: readonly string[], [limit, credits, fullUntil]: Limit): Quota => ({
  where,
  limit,
  credits,
  fullUntil,
  countedAt: null,
  creditsStored: credits,
  fullUntilStored: fullUntil,
  isAlone: false,
  given: 0,
  givenIn: 0,
})

/**
 * Of the places that are left, the store is told of so many fewer where nobody else writes: then their row is written once
 * for so many tokens, instead of for each batch. Who comes next, or comes after a crash, finds too few and counts the sooner;
 * so of few places few are held back.
 */
const AHEAD_MOST = 32
const ahead = (credits: number): number => Math.min(AHEAD_MOST, credits >> 3)
/** Bounds the memory; beyond it, what is known is read anew. */
const KEYS_KEPT = 20_000

const known = new WeakMap<object, Quotas>()

/** While nobody but this program writes, what it read and wrote stays true from batch to batch. */
export function quotasFor({ prepare, version }: ProgramContext, time: IssueTime): Quotas {
  const found = known.get(version)
  const quotas = found && found.size <= KEYS_KEPT ? found : new Quotas(prepare, time)
  known.set(version, quotas)
  quotas.begin(time)
  return quotas
}

/** The seconds come in order. */
const FIRST = 'seconds.at as oldest'
interface Counted {
  readonly n: number | null
  readonly oldest: number | null
}

interface CountedKey {
  readonly project_id: string
  readonly key_id: string
  readonly n: number
}

const nameOf = ({ where }: Quota): string => where.join(' ')

class Quotas {
  readonly #prepare: ProgramContext['prepare']
  readonly #projects = new Map<string, Quota>()
  readonly #keys = new Map<string, KeyQuota | undefined>()
  readonly #used = new Set<Quota>()
  /** Of the second in which it began, others may have given tokens; of those after it all are known here. */
  readonly #beganIn: number
  #found: ReadonlyMap<string, number> | undefined
  #time: IssueTime

  constructor(prepare: ProgramContext['prepare'], time: IssueTime) {
    this.#prepare = prepare
    this.#beganIn = time.expiresAt
    this.#time = time
  }

  begin(time: IssueTime): void {
    const isOver = time.counted < time.latest && time.latest < time.expiresAt
    this.#time = isOver ? { ...time, counted: time.latest } : time
    if (isOver) this.#countSeconds(time)
  }

  /** Their second is over: none can be added. */
  #countSeconds({ counted, latest }: IssueTime): void {
    this.#prepare(COUNT_SECONDS).run(counted, latest)
    this.#prepare('delete from tokens_counted').run()
    this.#prepare('insert into tokens_counted (expires_at) values (?)').run(latest)
  }

  get size(): number {
    return this.#keys.size
  }

  key(projectId: string, id: string): KeyQuota | undefined {
    const name = `${projectId} ${id}`
    const found = this.#keys.get(name)
    if (found || this.#keys.has(name)) return found
    // Not pieces of the batch that they came in: that would be kept with them.
    const key = this.#load(ownText(projectId), ownText(id))
    this.#keys.set(ownText(name), key)
    return key
  }

  #load(projectId: string, id: string): KeyQuota | undefined {
    const select = this.#prepare(KEY)
    select.setReturnArrays(true)
    const row = select.get(projectId, id) as never as KeyRow | undefined
    if (!row) return undefined
    const [state, epoch, version, limit, credits, fullUntil, ...ofProject] = row
    const project = this.#projects.get(projectId) ?? quotaOf([projectId], ofProject)
    this.#projects.set(projectId, project)
    return { ...quotaOf([projectId, id], [limit, credits, fullUntil]), project, state, epoch, version }
  }

  hasRemaining(quota: Quota): boolean {
    if (quota.credits > 0) return true
    if (quota.fullUntil !== null && quota.fullUntil > this.#time.now) return false
    this.#recount(quota)
    return quota.credits > 0
  }

  #recount(quota: Quota): void {
    const { now } = this.#time
    const { countedAt } = quota
    // While nobody else writes, nothing but time has changed since it was last counted.
    if (countedAt !== null && now - countedAt < LIFETIME_MS) this.#addExpired(quota, countedAt)
    else this.#countAll(quota)
    quota.countedAt = Math.max(now, countedAt ?? 0)
    this.#used.add(quota)
  }

  #countAll(quota: Quota): void {
    const { now, counted } = this.#time
    const found = this.#seconds('sum(t.n) as n, min(seconds.at) as oldest', quota, secondAfter(now), counted)
    const given = this.#givenNow(quota)
    quota.credits = quota.limit! - (found?.n ?? 0) - given
    this.#mark(quota, found?.oldest)
  }

  #addExpired(quota: Quota, since: number): void {
    const { now, counted } = this.#time
    const from = secondAfter(since)
    if (from <= now) quota.credits += this.#seconds('sum(t.n) as n', quota, from, now)?.n ?? 0
    const next = quota.credits <= 0 && this.#seconds(FIRST, quota, secondAfter(now), counted)
    this.#mark(quota, next ? next.oldest : null)
  }

  #mark(quota: Quota, oldest: number | null | undefined): void {
    const ofNow = () => (this.#givenNow(quota) > 0 ? this.#time.expiresAt : null)
    quota.fullUntil = quota.credits > 0 ? null : (oldest ?? ofNow())
  }

  #seconds(what: string, { where }: Quota, from: number, to: number): Counted | undefined {
    const ofKey = where.length === 1 ? '' : 'and t.key_id = ?'
    const text = countedIn(what, ofKey) + (what === FIRST ? ' limit 1' : '')
    return this.#prepare(text).get(from, to, ...where) as Counted | undefined
  }

  /** In the second under way. */
  #givenNow(quota: Quota): number {
    const { expiresAt } = this.#time
    const found = expiresAt !== this.#beganIn ? 0 : (this.#foundHere().get(nameOf(quota)) ?? 0)
    return found + (quota.givenIn === expiresAt ? quota.given : 0)
  }

  /** What there was of the second in which this began, read once: whatever is given from then on is known. */
  #foundHere(): ReadonlyMap<string, number> {
    if (this.#found) return this.#found
    const found = new Map<string, number>()
    const rows = this.#prepare(COUNT_SECOND).all(this.#beganIn) as never as CountedKey[]
    for (const { project_id, key_id, n } of rows) {
      found.set(`${project_id} ${key_id}`, n)
      found.set(project_id, (found.get(project_id) ?? 0) + n)
    }
    for (const quota of [...this.#projects.values(), ...this.#keys.values()]) if (quota) quota.given = 0
    this.#found = found
    return found
  }

  take(key: KeyQuota): void {
    this.#give(key)
    this.#give(key.project)
  }

  #give(quota: Quota): void {
    const { expiresAt } = this.#time
    quota.given = quota.givenIn === expiresAt ? quota.given + 1 : 1
    quota.givenIn = expiresAt
    if (quota.limit === null) return
    quota.credits--
    this.#used.add(quota)
  }

  /** The store never has more credits than are left. */
  store(): void {
    for (const quota of this.#used) {
      const credits = Math.max(0, quota.credits)
      const least = quota.isAlone ? credits - ahead(credits) : credits
      const isTrue = least <= quota.creditsStored && quota.creditsStored <= credits
      if (!isTrue || quota.fullUntil !== quota.fullUntilStored) this.#write(quota, least)
      quota.isAlone = true
    }
    this.#used.clear()
  }

  #write(quota: Quota, credits: number): void {
    const target =
      quota.where.length === 1
        ? 'projects set credits = ?, full_until = ? where id = ?'
        : 'api_keys set credits = ?, full_until = ? where project_id = ? and id = ?'
    this.#prepare(`update ${target}`).run(credits, quota.fullUntil, ...quota.where)
    quota.creditsStored = credits
    quota.fullUntilStored = quota.fullUntil
  }
}
