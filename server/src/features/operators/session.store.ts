import type { Reader, Transaction } from '../../platform/database/index.ts'
import { pageOf } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'
import type { OperatorRow } from './operator.store.ts'
import { type LoginCodeRow, MAX_IDLE_MS, type SessionRow } from './session.ts'

interface SessionTables {
  sessions: SessionRow
  login_codes: LoginCodeRow
  operators: OperatorRow
}

const live = (reader: Reader, now: number) =>
  reader
    .read<SessionTables>()
    .selectFrom('sessions')
    .where('expires_at', '>', now)
    .where('last_used_at', '>', now - MAX_IDLE_MS)

/** A session with its operator, as both are now. The session of a deleted operator is not found. */
export async function findSession(
  reader: Reader,
  digest: Uint8Array,
): Promise<{ session: SessionRow; operator: OperatorRow } | undefined> {
  const tables = reader.read<SessionTables>()
  const session = await tables
    .selectFrom('sessions')
    .selectAll()
    .where('digest', '=', digest)
    .executeTakeFirst()
  const operator =
    session &&
    (await tables
      .selectFrom('operators')
      .selectAll()
      .where('id', '=', session.operator_id)
      .executeTakeFirst())
  return operator && { session, operator }
}

export const findLiveSession = (reader: Reader, id: string, now: number): Promise<SessionRow | undefined> =>
  live(reader, now).selectAll().where('id', '=', id).executeTakeFirst()

/** Live sessions of one operator, or of all. */
export async function listSessionRows(
  reader: Reader,
  { operatorId, now }: { operatorId: string | undefined; now: number },
  page: Page,
): Promise<Rows<SessionRow>> {
  const query = live(reader, now)
  return pageOf(reader, operatorId === undefined ? query : query.where('operator_id', '=', operatorId), page)
}

/** The one that was used longest ago comes first. */
export const sessionsByUse = (reader: Reader, operatorId: string, now: number): Promise<SessionRow[]> =>
  live(reader, now)
    .selectAll()
    .where('operator_id', '=', operatorId)
    .orderBy('last_used_at')
    .orderBy('created_at')
    .execute()

export async function insertSession(tx: Transaction, row: SessionRow): Promise<void> {
  await tx.write<SessionTables>().insertInto('sessions').values(row).execute()
}

/** False if there is no such session. */
export async function deleteSession(
  tx: Transaction,
  by: { readonly id: string } | { readonly digest: Uint8Array },
): Promise<boolean> {
  const all = tx.write<SessionTables>().deleteFrom('sessions')
  const one = 'id' in by ? all.where('id', '=', by.id) : all.where('digest', '=', by.digest)
  return (await one.executeTakeFirst()).numDeletedRows === 1n
}

export async function saveSessionUse(tx: Transaction, uses: ReadonlyMap<string, number>): Promise<void> {
  for (const [id, at] of uses)
    await tx
      .write<SessionTables>()
      .updateTable('sessions')
      .set({ last_used_at: at })
      .where('id', '=', id)
      .where('last_used_at', '<', at)
      .execute()
}

export const findLoginCode = (reader: Reader, digest: Uint8Array): Promise<LoginCodeRow | undefined> =>
  reader
    .read<SessionTables>()
    .selectFrom('login_codes')
    .selectAll()
    .where('digest', '=', digest)
    .executeTakeFirst()

export async function insertLoginCode(tx: Transaction, row: LoginCodeRow): Promise<void> {
  await tx.write<SessionTables>().insertInto('login_codes').values(row).execute()
}

/** True for one caller only, whatever races: a code works once. */
export async function takeLoginCode(tx: Transaction, digest: Uint8Array): Promise<boolean> {
  const taken = await tx
    .write<SessionTables>()
    .deleteFrom('login_codes')
    .where('digest', '=', digest)
    .executeTakeFirst()
  return taken.numDeletedRows === 1n
}

/** Ends every session of an operator and its codes, in the transaction that deletes it or replaces its token. */
export async function endSessionsOf(tx: Transaction, operatorId: string): Promise<void> {
  const tables = tx.write<SessionTables>()
  await tables.deleteFrom('sessions').where('operator_id', '=', operatorId).execute()
  await tables.deleteFrom('login_codes').where('operator_id', '=', operatorId).execute()
}

/** For the janitor: what is over can no longer be used. */
export async function removeEndedSessions(tx: Transaction, now: number): Promise<void> {
  const tables = tx.write<SessionTables>()
  await tables
    .deleteFrom('sessions')
    .where((eb) => eb.or([eb('expires_at', '<=', now), eb('last_used_at', '<=', now - MAX_IDLE_MS)]))
    .execute()
  await tables.deleteFrom('login_codes').where('expires_at', '<=', now).execute()
}
