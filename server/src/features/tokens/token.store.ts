import { type JoinBuilder, sql } from 'kysely'
import { COUNT_TO, type Database, type Reader, type Transaction } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'
import type { ApiKeyTables } from '../api-keys/index.ts'
import { LIFETIME_MS, type TokenName } from './token.ts'

export interface TokenRow {
  project_id: string
  digest: Uint8Array
  key_id: string
  epoch: number
  scope: string
  expires_at: number
  revoked_at: number | null
}

/** How many active tokens a key was given in one second, of which epoch: on SQLite, of seconds that are over. */
interface TokenCountRow {
  project_id: string
  expires_at: number
  key_id: string
  epoch: number
  n: number
}

export interface TokenTables extends ApiKeyTables {
  tokens: TokenRow
  /** Only on SQLite, as is the next: tokens of a project do not lie together there. */
  token_counts: TokenCountRow
  /** The last second that is counted, in one row. */
  tokens_counted: { expires_at: number }
}

/** Topic of the wake-up after a token was revoked. */
export const TOKENS_REVOKED = 'tokens'

/** Many at once, in one query. */
export async function findTokens(reader: Reader, names: readonly TokenName[]): Promise<TokenRow[]> {
  return reader
    .read<TokenTables>()
    .selectFrom('tokens')
    .selectAll()
    .where((eb) =>
      eb.or(
        names.map(({ projectId, digest }) =>
          eb.and([eb('project_id', '=', projectId), eb('digest', '=', digest)]),
        ),
      ),
    )
    .execute()
}

const ofTheEpoch = (join: JoinBuilder<TokenTables, 'api_keys' | 'tokens'>) =>
  join
    .onRef('api_keys.project_id', '=', 'tokens.project_id')
    .onRef('api_keys.id', '=', 'tokens.key_id')
    .onRef('api_keys.epoch', '=', 'tokens.epoch')

/** Active by the state of the store: not expired, not revoked, of its key's epoch. */
const activeTokens = (reader: Reader, now: number) =>
  reader
    .read<TokenTables>()
    .selectFrom('tokens')
    .innerJoin('api_keys', ofTheEpoch)
    .where('tokens.expires_at', '>', now)
    .where('tokens.revoked_at', 'is', null)

export interface TokenCount {
  readonly project_id: string
  readonly key_id: string
  readonly count: number
  readonly oldest_expires_at: number
}

/** Tokens that have not expired and are not revoked, whatever has become of their keys: how many, by second, key and epoch. */
function numbersOf(db: Database, now: number, projectIds: readonly string[]) {
  const columns = ['project_id', 'expires_at', 'key_id', 'epoch'] as const
  const each = db
    .read<TokenTables>()
    .selectFrom('tokens')
    .select([...columns, sql<number>`1`.as('n')])
    .where('project_id', 'in', projectIds)
    .where('revoked_at', 'is', null)
  if (db.engine === 'postgres') return each.where('expires_at', '>', now)
  const since = sql<number>`max(${now}, coalesce((select expires_at from tokens_counted), 0))`
  const counted = db
    .read<TokenTables>()
    .selectFrom('token_counts')
    .select([...columns, 'n'])
    .where('project_id', 'in', projectIds)
    .where('expires_at', '>', now)
    .where('n', '>', 0)
  return each.where('expires_at', '>', since).unionAll(counted)
}

export const countActiveTokens = (
  db: Database,
  now: number,
  projectIds: readonly string[],
): Promise<TokenCount[]> =>
  db
    .read<TokenTables>()
    .selectFrom(numbersOf(db, now, projectIds).as('tokens'))
    .innerJoin('api_keys', ofTheEpoch)
    .select((eb) => [
      'tokens.project_id',
      'tokens.key_id',
      eb.fn.sum<number>('tokens.n').as('count'),
      eb.fn.min('tokens.expires_at').as('oldest_expires_at'),
    ])
    .groupBy(['tokens.project_id', 'tokens.key_id'])
    .execute()

export async function countAllActiveTokens(reader: Reader, now: number): Promise<number> {
  const { count } = await activeTokens(reader, now)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

export async function listActiveTokens(
  db: Database,
  filter: { projectId: string; keyId?: string | undefined; now: number },
  page: Page,
): Promise<Rows<TokenRow & { client_id: string }>> {
  let query = activeTokens(db, filter.now).where('tokens.project_id', '=', filter.projectId)
  if (filter.keyId !== undefined) query = query.where('tokens.key_id', '=', filter.keyId)
  const counts = await countActiveTokens(db, filter.now, [filter.projectId])
  const total = counts.reduce(
    (sum, { key_id, count }) => sum + (key_id === (filter.keyId ?? key_id) ? count : 0),
    0,
  )
  // Else all tokens of everybody would be looked through.
  if (db.engine === 'sqlite')
    query = query.where('tokens.expires_at', 'in', (eb) =>
      eb.selectFrom(numbersOf(db, filter.now, [filter.projectId]).as('seconds')).select('seconds.expires_at'),
    )
  const rows = await query
    .selectAll('tokens')
    .select('api_keys.client_id')
    .orderBy('tokens.expires_at', 'desc')
    .orderBy('tokens.digest', 'desc')
    .limit(page.limit + 1)
    .offset(page.offset)
    .execute()
  return { rows, total: Math.min(total, COUNT_TO) }
}

export const findTokenByDigestRange = (
  reader: Reader,
  projectId: string,
  { from, to }: { from: Uint8Array; to: Uint8Array },
): Promise<TokenRow | undefined> =>
  reader
    .read<TokenTables>()
    .selectFrom('tokens')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('digest', '>=', from)
    .where('digest', '<=', to)
    .executeTakeFirst()

export async function markRevoked(
  tx: Transaction,
  { projectId, digest }: TokenName,
  at: number,
): Promise<void> {
  await tx
    .write<TokenTables>()
    .updateTable('tokens')
    .set({ revoked_at: at })
    .where('project_id', '=', projectId)
    .where('digest', '=', digest)
    .execute()
  await tx.wake(TOKENS_REVOKED)
}

export async function forgetKeyFullness(tx: Transaction, projectId: string, keyId: string): Promise<void> {
  await tx
    .write<TokenTables>()
    .updateTable('api_keys')
    .set({ full_until: null })
    .where('project_id', '=', projectId)
    .where('id', '=', keyId)
    .execute()
}

export const listTokensRevokedSince = (reader: Reader, since: number): Promise<TokenRow[]> =>
  reader
    .read<TokenTables>()
    .selectFrom('tokens')
    .selectAll()
    .where('revoked_at', 'is not', null)
    .where('revoked_at', '>=', since)
    .execute()

/** The latest time at which the store has issued: no clock may fall behind it. One step into an index. */
export async function latestIssueTime(reader: Reader): Promise<number> {
  const { latest } = await reader
    .read<TokenTables>()
    .selectFrom('tokens')
    .select((eb) => eb.fn.max('expires_at').as('latest'))
    .executeTakeFirstOrThrow()
  return latest === null ? 0 : Number(latest) - LIFETIME_MS
}

/** Removes up to `most` tokens that can no longer matter, in one statement; how many, so that the janitor knows whether there are more. */
export async function deleteOldTokens(
  db: Database,
  { expiredBefore, revokedBefore, most }: { expiredBefore: number; revokedBefore: number; most: number },
): Promise<number> {
  return db.transaction(async (tx) => {
    const old = tx
      .write<TokenTables>()
      .selectFrom('tokens')
      .select(['project_id', 'digest'])
      .where('expires_at', '<', expiredBefore)
      .where((eb) => eb.or([eb('revoked_at', 'is', null), eb('revoked_at', '<', revokedBefore)]))
      .orderBy('expires_at')
      .limit(most)
    const { numDeletedRows } = await tx
      .write<TokenTables>()
      .deleteFrom('tokens')
      .where((eb) =>
        eb(eb.refTuple('project_id', 'digest'), 'in', tx.claim(old).$asTuple('project_id', 'digest')),
      )
      .executeTakeFirst()
    return Number(numDeletedRows)
  })
}
