import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { newToken } from '../../server/src/features/tokens/token.ts'
import { randomBytes } from '../../server/src/platform/secrets.ts'
import { connectSql } from '../../server/test/sql.ts'
import type { Store } from '../stores.ts'
import { SCOPE, TOKEN_SECONDS } from '../subject.ts'
import type { JetonClient } from './projects.ts'

/** Remaining lifetime of the oldest token. No measurement takes longer. */
const LEFT_SECONDS = 600
const ROWS_PER_STATEMENT = 1_000

/** Runs SQL on the tables of a Jeton that does not run, since a million requests would take minutes. */
async function withSql(
  { databaseUrl, folder }: Store,
  work: (run: (sql: string) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  if (databaseUrl === undefined) {
    const db = new DatabaseSync(join(folder, 'jeton.db'))
    db.exec('pragma synchronous = off; pragma cache_size = -500000; begin')
    await work(async (text) => db.exec(text))
    db.exec('commit; pragma synchronous = full; pragma wal_checkpoint(truncate)')
    return db.close()
  }
  const sql = connectSql(databaseUrl)
  await work((text) => sql.run(text))
  // Autovacuum and the checkpointer would have done this by now if the tokens had been issued one by one.
  for (const text of ['vacuum analyze', 'checkpoint']) await sql.run(text)
  await sql.end()
}

/** Brings the counters to the state that issuing the tokens one by one would have left. */
const countTokens = (each: number, { databaseUrl }: Store): string =>
  `update projects set credits = token_limit - ${each};
  ${
    databaseUrl === undefined
      ? `delete from token_counts;
  insert into token_counts (project_id, expires_at, key_id, epoch, n)
    select project_id, expires_at, key_id, epoch, count(*) from tokens
    where revoked_at is null group by expires_at, project_id, key_id, epoch`
      : ''
  }`

const INSERT = 'insert into tokens (project_id, digest, key_id, epoch, scope, expires_at)'

/** Gives every key `each` active tokens with unknown values, in the order in which traffic would have left them. */
export const fillTokens = (store: Store, each: number): Promise<void> =>
  withSql(store, async (run) => {
    const first = Math.floor(Date.now() / 1000) + LEFT_SECONDS
    const expiry = `(${first} + n.i * ${TOKEN_SECONDS - LEFT_SECONDS} / ${each}) * cast(1000 as bigint)`
    const issued = `${expiry} - ${TOKEN_SECONDS * 1000}`
    const digest =
      store.databaseUrl === undefined
        ? `unhex(format('%012x', ${issued}) || hex(randomblob(32)))`
        : `decode(lpad(to_hex(${issued}), 12, '0'), 'hex') || sha256(convert_to(gen_random_uuid()::text, 'UTF8'))`
    await run(`with recursive n(i) as (select 0 union all select i + 1 from n where i < ${each - 1}) ${INSERT}
      select k.project_id, ${digest}, k.id, k.epoch, '${SCOPE}', ${expiry} from n cross join api_keys k order by n.i`)
    await run(countTokens(each, store))
  })

/** Gives every client `each` active tokens and returns their values by client. */
export async function createTokens(
  store: Store,
  clients: readonly JetonClient[],
  each: number,
): Promise<string[]> {
  const expiresAt = (Math.floor(Date.now() / 1000) + LEFT_SECONDS) * 1000
  const prefix = store.databaseUrl === undefined ? "x'" : "'\\x"
  const created = clients.flatMap(({ projectId, keyId }) =>
    Array.from({ length: each }, () => {
      const { accessToken, digest } = newToken(randomBytes, projectId, Date.now())
      const hex = Buffer.from(digest).toString('hex')
      return {
        accessToken,
        row: `('${projectId}', ${prefix}${hex}', '${keyId}', 1, '${SCOPE}', ${expiresAt})`,
      }
    }),
  )
  await withSql(store, async (run) => {
    for (let i = 0; i < created.length; i += ROWS_PER_STATEMENT) {
      const rows = created.slice(i, i + ROWS_PER_STATEMENT).map(({ row }) => row)
      await run(`${INSERT} values ${rows.join(', ')}`)
    }
    await run(countTokens(each, store))
  })
  return created.map(({ accessToken }) => accessToken)
}
