import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/**
 * Digests of tokens begin with the time of issuing. Those from before have no name that could be asked for, and less than
 * 15 minutes to live. On SQLite an index names rows by their primary key: with the digest before the project, what expires
 * together is written in the order in which it came.
 */
export const tokensByTime: Migration = {
  name: '0007-tokens-by-time',
  async up(db, types) {
    await sql`delete from tokens`.execute(db)
    // Whoever was full is so no more.
    await sql`update projects set full_until = null`.execute(db)
    await sql`update api_keys set full_until = null`.execute(db)
    if (types.bytes !== 'blob') return
    await db.schema.dropIndex('tokens_expiry').execute()
    await db.schema.createIndex('tokens_expiry').on('tokens').columns(['expires_at', 'digest']).execute()
  },
}
