import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/**
 * Digests of tokens start with the issue time. Earlier tokens have no such digest and less than 15 minutes to live, so they
 * are deleted. On SQLite an index refers to rows by primary key: with the digest before the project, tokens that expire
 * together are written in order of arrival.
 */
export const tokensByTime: Migration = {
  name: '0007-tokens-by-time',
  async up(db, types) {
    await sql`delete from tokens`.execute(db)
    // No project or key is full any more.
    await sql`update projects set full_until = null`.execute(db)
    await sql`update api_keys set full_until = null`.execute(db)
    if (types.bytes !== 'blob') return
    await db.schema.dropIndex('tokens_expiry').execute()
    await db.schema.createIndex('tokens_expiry').on('tokens').columns(['expires_at', 'digest']).execute()
  },
}
