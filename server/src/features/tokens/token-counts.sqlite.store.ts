import { sql } from 'kysely'
import type { SqliteDatabase } from '../../platform/database/index.ts'
import { SECOND_MS, secondAfter } from './token.ts'

const COUNTED = sql`(select coalesce(max(expires_at), 0) from tokens_counted)`

/**
 * How many active tokens these projects' keys have, by the second at which they expire: of `token_counts`, and those of the
 * second under way one by one. Of a token that is somebody else's only its place in the index is read.
 */
const numbers = (now: number, projectIds: readonly string[]) => sql`
  with recursive seconds(at) as (
    select max(${secondAfter(now)}, (select min(expires_at) from token_counts)) union all select at + ${SECOND_MS} from seconds where at + ${SECOND_MS} <= ${COUNTED}
  ),
  stored as (
    select t.project_id, t.key_id, t.epoch, t.expires_at, t.n
    from seconds cross join token_counts t on t.expires_at = seconds.at and t.project_id in (${sql.join(projectIds)})
    where t.n > 0
    union all
    select t.project_id, t.key_id, t.epoch, t.expires_at, 1
    from tokens place cross join tokens t on t.digest = place.digest and t.project_id = place.project_id
    where place.expires_at > max(${now}, ${COUNTED}) and place.project_id in (${sql.join(projectIds)})
      and t.revoked_at is null
  ),
  numbers as (
    select s.* from stored s
    join api_keys k on k.project_id = s.project_id and k.id = s.key_id and k.epoch = s.epoch
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
  projectIds: readonly string[],
): Promise<TokenCount[]> {
  const { rows } = await sql<TokenCount>`${numbers(now, projectIds)}
    select project_id, key_id, sum(n) as count, min(expires_at) as oldest_expires_at
    from numbers group by project_id, key_id`.execute(db.read<never>() as never)
  return rows
}

interface Wanted {
  readonly projectId: string
  readonly keyId?: string | undefined
  readonly now: number
}

/** The seconds at which a project's tokens expire, the last one first. */
export async function secondsOnSqlite(
  db: SqliteDatabase,
  { projectId, keyId, now }: Wanted,
): Promise<{ at: number; count: number }[]> {
  const ofKey = keyId === undefined ? sql`` : sql`where key_id = ${keyId}`
  const { rows } = await sql<{ at: number; count: number }>`${numbers(now, [projectId])}
    select expires_at as at, sum(n) as count from numbers ${ofKey} group by expires_at order by expires_at desc`.execute(
    db.read<never>() as never,
  )
  return rows
}
