import {
  COUNT_TO,
  countUpTo,
  type Database,
  type Reader,
  type SqliteDatabase,
  type Transaction,
} from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'
import type { ApiKeyTables } from '../api-keys/index.ts'
import { LIFETIME_MS, type TokenLocator, type TokenRow } from './token.ts'
import {
  countOnSqlite,
  deleteOldSeconds,
  secondsOnSqlite,
  type TokenCount,
  uncountTokens,
} from './token-counts.sqlite.store.ts'

interface TokenTables extends ApiKeyTables {
  tokens: TokenRow
}

/** Topic of the notification after a token was revoked. */
export const TOKENS_REVOKED = 'tokens'

/** Finds many tokens in one query. */
export async function findTokens(reader: Reader, locators: readonly TokenLocator[]): Promise<TokenRow[]> {
  return reader
    .read<TokenTables>()
    .selectFrom('tokens')
    .selectAll()
    .where((eb) =>
      eb.or(
        locators.map(({ projectId, digest }) =>
          eb.and([eb('project_id', '=', projectId), eb('digest', '=', digest)]),
        ),
      ),
    )
    .execute()
}

/** Selects tokens that are not expired, not revoked and of their key's current epoch. */
const activeTokens = (reader: Reader, now: number) =>
  reader
    .read<TokenTables>()
    .selectFrom('tokens')
    .innerJoin('api_keys', (join) =>
      join
        .onRef('api_keys.project_id', '=', 'tokens.project_id')
        .onRef('api_keys.id', '=', 'tokens.key_id')
        .onRef('api_keys.epoch', '=', 'tokens.epoch'),
    )
    .where('tokens.expires_at', '>', now)
    .where('tokens.revoked_at', 'is', null)

/** Active tokens by key, of these projects or of all. */
export const countActiveTokens = (
  db: Database,
  now: number,
  projectIds?: readonly string[],
): Promise<TokenCount[]> =>
  db.engine === 'sqlite'
    ? countOnSqlite(db, now, projectIds)
    : activeTokens(db, now)
        .$if(projectIds !== undefined, (query) => query.where('tokens.project_id', 'in', projectIds!))
        .select((eb) => [
          'tokens.project_id',
          'tokens.key_id',
          eb.fn.countAll<number>().as('count'),
          eb.fn.min('tokens.expires_at').as('oldest_expires_at'),
        ])
        .groupBy(['tokens.project_id', 'tokens.key_id'])
        .execute()

const MINUTE_MS = 60_000

/** Active tokens of a project by the minute in which they expire; the first minute starts now. */
export async function countExpiring(reader: Reader, projectId: string, now: number): Promise<number[]> {
  const bySecond = await activeTokens(reader, now)
    .where('tokens.project_id', '=', projectId)
    .select((eb) => ['tokens.expires_at', eb.fn.countAll<number>().as('count')])
    .groupBy('tokens.expires_at')
    .execute()
  const counts = new Array<number>(LIFETIME_MS / MINUTE_MS).fill(0)
  for (const { expires_at, count } of bySecond) {
    // A token lives at most as long as there are minutes here, plus the rest of the second that it was issued in.
    const minute = Math.min(counts.length - 1, Math.floor((expires_at - now) / MINUTE_MS))
    counts[minute]! += count
  }
  return counts
}

/** Up to 10,000. */
export const countAllActiveTokens = (reader: Reader, now: number): Promise<number> =>
  countUpTo(reader, activeTokens(reader, now))

interface ListedTokens {
  readonly projectId: string
  readonly keyId?: string | undefined
  readonly now: number
}

export async function listActiveTokens(
  db: Database,
  filter: ListedTokens,
  page: Page,
): Promise<Rows<TokenRow & { client_id: string }>> {
  let query = activeTokens(db, filter.now).where('tokens.project_id', '=', filter.projectId)
  if (filter.keyId !== undefined) query = query.where('tokens.key_id', '=', filter.keyId)
  const range = db.engine === 'sqlite' ? await pageRangeOnSqlite(db, filter, page) : undefined
  // Of tokens of other projects only the index entries are read.
  if (range)
    query = query.where((eb) => {
      const own = eb
        .selectFrom('tokens as own')
        .select(['own.digest', 'own.project_id'])
        .where('own.expires_at', 'in', range.seconds)
        .where('own.project_id', '=', filter.projectId)
      return eb(eb.refTuple('tokens.digest', 'tokens.project_id'), 'in', own.$asTuple('digest', 'project_id'))
    })
  const total = range?.total ?? (await countUpTo(db, query))
  const rows = await query
    .selectAll('tokens')
    .select('api_keys.client_id')
    .orderBy('tokens.expires_at', 'desc')
    .orderBy('tokens.digest', 'desc')
    .limit(page.limit + 1)
    .offset(range?.offset ?? page.offset)
    .execute()
  return { rows, total }
}

/** Finds the seconds in which the tokens of a page expire. Otherwise the query would scan the tokens of all projects. */
async function pageRangeOnSqlite(db: SqliteDatabase, filter: ListedTokens, { limit, offset }: Page) {
  const all = await secondsOnSqlite(db, filter)
  const seconds: number[] = []
  let total = 0
  let skipped = 0
  for (const { at, count } of all) {
    if (total + count <= offset) skipped += count
    else if (total <= offset + limit) seconds.push(at)
    total += count
  }
  return { seconds, offset: offset - skipped, total: Math.min(total, COUNT_TO) }
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
  { projectId, digest }: TokenLocator,
  at: number,
): Promise<void> {
  await tx
    .write<TokenTables>()
    .updateTable('tokens')
    .set({ revoked_at: at })
    .where('project_id', '=', projectId)
    .where('digest', '=', digest)
    .execute()
  await tx.notify(TOKENS_REVOKED)
}

export async function clearKeyFullUntil(tx: Transaction, projectId: string, keyId: string): Promise<void> {
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

/** Latest issue time of all tokens, which no clock may fall behind. One index seek. */
export async function latestIssueTime(reader: Reader): Promise<number> {
  const found = await reader
    .read<TokenTables>()
    .selectFrom('tokens')
    .select((eb) => eb.fn.max('expires_at').as('latest'))
    .executeTakeFirst()
  return Math.max(0, Number(found?.latest ?? 0) - LIFETIME_MS)
}

interface OldTokens {
  readonly expiredBefore: number
  readonly revokedBefore: number
  readonly limit: number
}

/** Deletes up to `limit` tokens that are no longer used. Returns the number, so that the janitor knows if there are more. */
export async function deleteOldTokens(
  db: Database,
  { expiredBefore, revokedBefore, limit }: OldTokens,
): Promise<number> {
  return db.transaction(async (tx) => {
    const old = tx
      .write<TokenTables>()
      .selectFrom('tokens')
      .select(['project_id', 'digest'])
      .where('expires_at', '<', expiredBefore)
      .where((eb) => eb.or([eb('revoked_at', 'is', null), eb('revoked_at', '<', revokedBefore)]))
      .orderBy('expires_at')
      .orderBy('digest')
      .limit(limit)
    if (db.engine === 'sqlite') await uncountTokens(tx, old)
    const { numDeletedRows } = await tx
      .write<TokenTables>()
      .deleteFrom('tokens')
      .where((eb) =>
        eb(eb.refTuple('project_id', 'digest'), 'in', tx.claim(old).$asTuple('project_id', 'digest')),
      )
      .executeTakeFirst()
    if (db.engine === 'sqlite') await deleteOldSeconds(tx, expiredBefore)
    return Number(numDeletedRows)
  })
}
