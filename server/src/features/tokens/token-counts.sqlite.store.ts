import { type Expression, sql } from 'kysely'
import type { SqliteDatabase, Transaction } from '../../platform/database/index.ts'
import { SECOND_MS, secondAfter } from './token.ts'

/**
 * Counts active tokens of projects by key and second. On SQLite, tokens are stored in the order of issuing, so that a batch
 * writes few pages. `token_counts` has the number of tokens per key that expire in each second, without revoked ones. The
 * transactions that issue, revoke and remove tokens maintain it. It is ordered by time, so each second is looked up.
 */
const counts = (now: number, projectIds?: readonly string[]) => sql`
  with recursive seconds(at) as (
    select max(${secondAfter(now)}, (select min(expires_at) from token_counts))
    union all select at + ${SECOND_MS} from seconds where at < (select max(expires_at) from token_counts)
  ),
  counts as (
    select t.project_id, t.key_id, t.expires_at, t.n
    from seconds cross join token_counts t on t.expires_at = seconds.at and t.n > 0
      ${projectIds ? sql`and t.project_id in (${sql.join(projectIds)})` : sql``}
    join api_keys k on k.project_id = t.project_id and k.id = t.key_id and k.epoch = t.epoch
  )`

export interface TokenCount {
  readonly project_id: string
  readonly key_id: string
  readonly count: number
  readonly oldest_expires_at: number
}

export async function countOnSqlite(
  db: SqliteDatabase,
  now: number,
  projectIds?: readonly string[],
): Promise<TokenCount[]> {
  const { rows } = await sql<TokenCount>`${counts(now, projectIds)}
    select project_id, key_id, sum(n) as count, min(expires_at) as oldest_expires_at
    from counts group by project_id, key_id`.execute(db.read<never>() as never)
  return rows
}

interface Filter {
  readonly projectId: string
  readonly keyId?: string | undefined
  readonly now: number
}

/** Lists the seconds in which active tokens of a project expire, latest first. */
export async function secondsOnSqlite(
  db: SqliteDatabase,
  { projectId, keyId, now }: Filter,
): Promise<{ at: number; count: number }[]> {
  const ofKey = keyId === undefined ? sql`` : sql`where key_id = ${keyId}`
  const { rows } = await sql<{ at: number; count: number }>`${counts(now, [projectId])}
    select expires_at as at, sum(n) as count from counts ${ofKey} group by expires_at order by expires_at desc`.execute(
    db.read<never>() as never,
  )
  return rows
}

interface CountedToken {
  readonly project_id: string
  readonly key_id: string
  readonly epoch: number
  readonly expires_at: number
}

/** Removes a token from the counts that is being revoked. */
export async function uncountToken(tx: Transaction, token: CountedToken): Promise<void> {
  await sql`update token_counts set n = n - 1 where expires_at = ${token.expires_at} and project_id = ${token.project_id}
    and key_id = ${token.key_id} and epoch = ${token.epoch}`.execute(tx.write<never>())
}

/**
 * Removes tokens from the counts that are about to be deleted. Usually all have expired. If the janitor's clock is ahead,
 * deleted tokens stop counting and the others still count.
 */
export async function uncountTokens(tx: Transaction, old: Expression<unknown>): Promise<void> {
  await sql`update token_counts set n = token_counts.n - gone.n
    from (
      select t.expires_at, t.project_id, t.key_id, t.epoch, count(*) as n
      from ${old} o cross join tokens t on t.digest = o.digest and t.project_id = o.project_id
      where t.revoked_at is null group by t.expires_at, t.project_id, t.key_id, t.epoch
    ) gone
    where token_counts.expires_at = gone.expires_at and token_counts.project_id = gone.project_id
      and token_counts.key_id = gone.key_id and token_counts.epoch = gone.epoch`.execute(tx.write<never>())
}

/** Deletes the expired seconds before the first one that still has tokens. */
export async function deleteOldSeconds(tx: Transaction, expiredBefore: number): Promise<void> {
  await sql`delete from token_counts
    where expires_at < min(${expiredBefore}, (select coalesce(min(expires_at), ${expiredBefore}) from tokens))`.execute(
    tx.write<never>(),
  )
}
