import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import postgres from 'postgres'
import { newAccessToken } from '../server/src/features/tokens/token.ts'
import { digestOf, randomBytes } from '../server/src/platform/secrets.ts'
import type { JetonClient } from './prepare-jeton.ts'
import type { Store } from './stores.ts'
import { SCOPE, TOKEN_SECONDS } from './subjects/protocol.ts'

/** The oldest of the tokens that are put there has this long to live: more than any measurement takes. */
const LEFT_SECONDS = 600
const ROWS_PER_STATEMENT = 2_000

/** Past the service, straight into its tables, since a million requests would take minutes. */
interface Filler {
  run(sqlite: string, postgres?: string): Promise<void>
  insert(rows: readonly TokenRow[]): Promise<void>
  close(): Promise<void>
}

interface TokenRow {
  readonly project_id: string
  readonly digest: Buffer
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
    async close() {
      db.exec('commit; pragma synchronous = full; pragma wal_checkpoint(truncate); analyze')
      db.close()
    },
  }
}

function postgresFiller(url: string): Filler {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  return {
    run: async (same, own = same) => void (await sql.unsafe(own)),
    async insert(rows) {
      for (let i = 0; i < rows.length; i += ROWS_PER_STATEMENT)
        await sql`insert into tokens ${sql(rows.slice(i, i + ROWS_PER_STATEMENT))}`
    },
    async close() {
      // What autovacuum and the checkpointer have done long since where so many tokens came one by one.
      await sql`vacuum analyze`
      await sql`checkpoint`
      await sql.end()
    },
  }
}

const fillerOf = ({ databaseUrl, env }: Store): Filler =>
  databaseUrl === undefined ? sqliteFiller(env.JETON_DATA_DIR!) : postgresFiller(databaseUrl)

/** Takes from every project as many credits as it was given tokens. */
const takeCredits = (filler: Filler, each: number): Promise<void> =>
  filler.run(`update projects set credits = token_limit - ${each}`)

/** As many active tokens for every key, of which nobody knows the value: in turn, as traffic would have left them. */
export async function fillTokens(store: Store, each: number): Promise<void> {
  const filler = fillerOf(store)
  if (each > 0) {
    const first = Math.floor(Date.now() / 1000) + LEFT_SECONDS
    const columns = 'insert into tokens (project_id, digest, key_id, epoch, scope, expires_at)'
    const select = (digest: string) =>
      `select k.project_id, ${digest}, k.id, k.epoch, '${SCOPE}', (${first} + n.i * ${TOKEN_SECONDS - LEFT_SECONDS} / ${each}) * cast(1000 as bigint)`
    await filler.run(
      `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${each - 1})
        ${columns} ${select('randomblob(32)')} from n cross join api_keys k`,
      `${columns} ${select("sha256(convert_to(gen_random_uuid()::text, 'UTF8'))")}
        from generate_series(0, ${each - 1}) as n(i) cross join api_keys k order by n.i`,
    )
    await takeCredits(filler, each)
  }
  await filler.close()
}

/** The same, but with values that are returned, in the order of the clients: those of the first client come first. */
export async function fillKnownTokens(
  store: Store,
  clients: readonly JetonClient[],
  each: number,
): Promise<string[]> {
  const filler = fillerOf(store)
  const expires_at = (Math.floor(Date.now() / 1000) + LEFT_SECONDS) * 1000
  const tokens: string[] = []
  for (const { projectId: project_id, keyId: key_id } of clients) {
    const own = Array.from({ length: each }, () => newAccessToken(randomBytes, project_id))
    const row = { project_id, key_id, epoch: 1, scope: SCOPE, expires_at }
    await filler.insert(own.map((token) => ({ ...row, digest: digestOf(token) })))
    tokens.push(...own)
  }
  await takeCredits(filler, each)
  await filler.close()
  return tokens
}
