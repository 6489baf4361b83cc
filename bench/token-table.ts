import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { connectSql } from '../server/test/sql.ts'
import { postmasterOf } from './postmaster.ts'
import { treeUse } from './process-tree.ts'
import type { Store } from './stores.ts'

/** What the store holds, seen from outside of the service. */
export interface TokenTable {
  bytes(): Promise<number>
  /** Processor time of PostgreSQL, with all that it does by itself; SQLite has none but the service's. */
  cpuMicros(): Promise<number>
  tokens(): Promise<number>
  /** When the next one expires. */
  firstExpiry(): Promise<number>
  /** Of the project that has the most, those that have not expired. */
  mostActive(now: number): Promise<number>
  close(): Promise<void>
}

const COUNT = 'select count(*) as found from tokens'
const FIRST_EXPIRY = 'select min(expires_at) as found from tokens'
const mostActive = (now: number): string =>
  `select coalesce(max(n), 0) as found from (select count(*) as n from tokens where expires_at > ${now} group by project_id) as counted`

function onSqlite(folder: string): TokenTable {
  const file = join(folder, 'jeton.db')
  const db = new DatabaseSync(file, { readOnly: true })
  const find = async (text: string) => Number(db.prepare(text).get()!.found)
  const size = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  return {
    bytes: async () => size(file) + size(`${file}-wal`),
    cpuMicros: async () => 0,
    tokens: () => find(COUNT),
    firstExpiry: () => find(FIRST_EXPIRY),
    mostActive: (now) => find(mostActive(now)),
    close: async () => db.close(),
  }
}

function onPostgres(url: string): TokenTable {
  const sql = connectSql(url)
  const find = async (text: string) => Number((await sql.run(text)).rows[0]!.found)
  return {
    bytes: () => find('select pg_database_size(current_database()) as found'),
    cpuMicros: async () => treeUse(await postmasterOf(sql)).cpuMicros,
    tokens: () => find(COUNT),
    firstExpiry: () => find(FIRST_EXPIRY),
    mostActive: (now) => find(mostActive(now)),
    close: () => sql.end(),
  }
}

export const tokenTableOf = ({ databaseUrl, env }: Store): TokenTable =>
  databaseUrl === undefined ? onSqlite(env.JETON_DATA_DIR!) : onPostgres(databaseUrl)
