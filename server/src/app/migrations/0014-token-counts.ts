import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/**
 * On SQLite, the transaction that issues, revokes or removes tokens now maintains `token_counts` itself, so that it always
 * contains every second. Seconds that were not counted yet are counted here, and the triggers and `tokens_counted` are
 * dropped.
 *
 * `full_until` becomes the time at which the next active token expires, even while there are credits. Values of earlier
 * versions are cleared, so that the next request that finds no credits counts.
 */
export const tokenCounts: Migration = {
  name: '0014-token-counts',
  async up(db, types) {
    if (types.bytes !== 'blob') return
    await sql`drop trigger tokens_revoke`.execute(db)
    await sql`drop trigger tokens_remove`.execute(db)
    await sql`insert into token_counts (project_id, expires_at, key_id, epoch, n)
      select project_id, expires_at, key_id, epoch, count(*) from tokens
      where expires_at > (select coalesce(max(expires_at), 0) from tokens_counted) and revoked_at is null
      group by expires_at, project_id, key_id, epoch`.execute(db)
    await db.schema.dropTable('tokens_counted').execute()
    await sql`update projects set full_until = null where full_until is not null`.execute(db)
    await sql`update api_keys set full_until = null where full_until is not null`.execute(db)
  },
}
