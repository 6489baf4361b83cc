import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/**
 * On SQLite a row is written with its whole page. Tokens are now stored in the order of issuing, across projects: a batch of
 * many projects writes a few pages instead of one per token. Because a project can no longer be counted by its range in the
 * table, `token_counts` has the number of tokens per key and second, up to and including the second `tokens_counted`. Tokens
 * of the current second are counted in the table.
 *
 * PostgreSQL stores rows in order of arrival and writes only changes.
 */
export const tokensInOrder: Migration = {
  name: '0010-tokens-in-order',
  async up(db, types) {
    if (types.bytes !== 'blob') return
    await db.schema.dropIndex('tokens_expiry').execute()
    await db.schema.dropIndex('tokens_revoked').execute()
    await db.schema.alterTable('tokens').renameTo('tokens_before').execute()
    await db.schema
      .createTable('tokens')
      .addColumn('project_id', 'text', (c) => c.notNull())
      .addColumn('digest', 'blob', (c) => c.notNull())
      .addColumn('key_id', 'text', (c) => c.notNull())
      .addColumn('epoch', 'bigint', (c) => c.notNull())
      .addColumn('scope', 'text', (c) => c.notNull())
      .addColumn('expires_at', 'bigint', (c) => c.notNull())
      .addColumn('revoked_at', 'bigint')
      .addPrimaryKeyConstraint('tokens_pk', ['digest', 'project_id'])
      .modifyEnd(sql`without rowid`)
      .execute()
    await sql`insert into tokens select * from tokens_before order by digest, project_id`.execute(db)
    await db.schema.dropTable('tokens_before').execute()
    await db.schema.createIndex('tokens_expiry').on('tokens').columns(['expires_at', 'digest']).execute()
    await db.schema
      .createIndex('tokens_revoked')
      .on('tokens')
      .column('revoked_at')
      .where(sql.ref('revoked_at'), 'is not', null)
      .execute()

    await db.schema
      .createTable('token_counts')
      .addColumn('project_id', 'text', (c) => c.notNull())
      .addColumn('expires_at', 'bigint', (c) => c.notNull())
      .addColumn('key_id', 'text', (c) => c.notNull())
      .addColumn('epoch', 'bigint', (c) => c.notNull())
      .addColumn('n', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('token_counts_pk', ['expires_at', 'project_id', 'key_id', 'epoch'])
      .modifyEnd(sql`without rowid`)
      .execute()
    await sql`insert into token_counts (project_id, expires_at, key_id, epoch, n)
      select project_id, expires_at, key_id, epoch, count(*) from tokens
      where revoked_at is null group by expires_at, project_id, key_id, epoch`.execute(db)
    await db.schema
      .createTable('tokens_counted')
      .addColumn('expires_at', 'bigint', (c) => c.notNull().primaryKey())
      .execute()
    await sql`insert into tokens_counted select max(expires_at) from tokens having max(expires_at) is not null`.execute(
      db,
    )
    // A revoked or removed token no longer counts. One that is not counted yet never will be.
    await sql`create trigger tokens_revoke after update of revoked_at on tokens
      when old.revoked_at is null and new.revoked_at is not null
      begin
        update token_counts set n = n - 1 where project_id = new.project_id and expires_at = new.expires_at
          and key_id = new.key_id and epoch = new.epoch;
      end`.execute(db)
    await sql`create trigger tokens_remove after delete on tokens
      begin
        update token_counts set n = n - (old.revoked_at is null) where project_id = old.project_id
          and expires_at = old.expires_at and key_id = old.key_id and epoch = old.epoch;
        delete from token_counts where project_id = old.project_id
          and expires_at = old.expires_at and key_id = old.key_id and epoch = old.epoch and n <= 0;
      end`.execute(db)
  },
}
