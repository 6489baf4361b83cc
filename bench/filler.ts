import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { connectSql } from '../server/test/sql.ts'
import type { Store } from './stores.ts'

const ROWS_PER_STATEMENT = 2_000

/** Past the service, straight into its tables, since a million requests would take minutes. */
export interface Filler {
  run(sqlite: string, postgres?: string): Promise<void>
  insert(rows: readonly TokenRow[]): Promise<void>
  /** The same indexes, but made once the table is full: several times as fast, and they end up the same. */
  withoutIndexes(table: string, work: () => Promise<void>): Promise<void>
  close(): Promise<void>
}

export interface TokenRow {
  readonly project_id: string
  readonly digest: Uint8Array
  readonly key_id: string
  readonly epoch: number
  readonly scope: string
  readonly expires_at: number
}

function sqliteFiller(folder: string): Filler {
  const db = new DatabaseSync(join(folder, 'jeton.db'))
  db.exec('pragma synchronous = off; pragma cache_size = -500000; begin')
  const one = db.prepare(
    'insert into tokens (project_id, digest, key_id, epoch, scope, expires_at) values (?, ?, ?, ?, ?, ?)',
  )
  return {
    run: async (statement) => db.exec(statement),
    async insert(rows) {
      for (const row of rows)
        one.run(row.project_id, row.digest, row.key_id, row.epoch, row.scope, row.expires_at)
    },
    async withoutIndexes(table, work) {
      const indexes = db
        .prepare(
          `select name, sql from sqlite_master where type = 'index' and tbl_name = ? and sql is not null`,
        )
        .all(table)
      for (const { name } of indexes) db.exec(`drop index ${name}`)
      await work()
      for (const { sql } of indexes) db.exec(String(sql))
    },
    async close() {
      // As if the tokens had been issued one by one.
      db.exec(`delete from token_counts;
        insert into token_counts (project_id, expires_at, key_id, epoch, n)
          select project_id, expires_at, key_id, epoch, count(*) from tokens
          where revoked_at is null group by expires_at, project_id, key_id, epoch`)
      // Without counting rows for the planner: the service never does that either.
      db.exec('commit; pragma synchronous = full; pragma wal_checkpoint(truncate)')
      db.close()
    },
  }
}

function postgresFiller(url: string): Filler {
  const sql = connectSql(url)
  return {
    run: async (same, own = same) => void (await sql.run(own)),
    async insert(rows) {
      for (let i = 0; i < rows.length; i += ROWS_PER_STATEMENT) {
        const some = rows.slice(i, i + ROWS_PER_STATEMENT)
        const column = (name: keyof TokenRow) => some.map((row) => row[name])
        await sql`insert into tokens (project_id, digest, key_id, epoch, scope, expires_at)
          select * from unnest(${column('project_id')}::text[], ${column('digest')}::bytea[], ${column('key_id')}::text[],
            ${column('epoch')}::bigint[], ${column('scope')}::text[], ${column('expires_at')}::bigint[])`
      }
    },
    async withoutIndexes(table, work) {
      // Those of keys and constraints stay.
      const indexes = await sql<{
        name: string
        made: string
      }>`select indexname as name, indexdef as made from pg_indexes
        where tablename = ${table} and indexname not in (select conname from pg_constraint)`
      for (const { name } of indexes) await sql.run(`drop index ${name}`)
      await work()
      await sql`set maintenance_work_mem = '512MB'`
      for (const { made } of indexes) await sql.run(made)
    },
    async close() {
      // What autovacuum and the checkpointer have done long since where so many tokens came one by one.
      await sql`vacuum analyze`
      await sql`checkpoint`
      await sql.end()
    },
  }
}

export const fillerOf = ({ databaseUrl, env }: Store): Filler =>
  databaseUrl === undefined ? sqliteFiller(env.JETON_DATA_DIR!) : postgresFiller(databaseUrl)
