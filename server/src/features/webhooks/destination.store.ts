import { sql } from 'kysely'
import { countUpTo, type Reader, type Transaction } from '../../platform/database/index.ts'
import { keyIdIn } from '../../platform/encryption.ts'
import type { Page, Rows } from '../../platform/http/index.ts'

/** Stored as the reason, and told apart from reasons that Jeton found. */
export const DISABLED_BY_OPERATOR = 'disabled by an operator'

export type DestinationKind = 'webhook' | 'distribution'

/** Receiver of events: a webhook of the project, or a distribution of one of its loyalty campaigns. */
export interface DestinationRow {
  project_id: string
  id: string
  kind: DestinationKind
  /** Required for distributions. Unique among the webhooks of a project. */
  name: string | null
  /** `campaign_id` and `event_name` are set for distributions only. */
  campaign_id: string | null
  event_name: string | null
  /** JSON object: header name to encrypted value. */
  headers: string
  target_url: string
  /** JSON array of event kinds. */
  events: string
  /** 1 or 0, because SQLite has no boolean type. */
  active: number
  disabled_reason: string | null
  description: string | null
  /** Encrypted, like `previous_secret`, which also signs until `previous_until`. */
  secret: string
  secret_last4: string
  previous_secret: string | null
  previous_until: number | null
  /** Time of the first failure since the last success; null after a success. */
  failing_since: number | null
  /** Time it was enabled, while its held deliveries are not yet due again; otherwise null. */
  released_at: number | null
  /**
   * JSON array: ids of the events that were in the outbox when the destination was created. The relay does not send them
   * to it. Ids are compared instead of times because clocks jump.
   */
  skips: string
  created_at: number
  updated_at: number
  /** Deleted rows stay, without their secrets, for the delivery record. */
  deleted_at: number | null
}

export interface DestinationTables {
  destinations: DestinationRow
}

/** Topic of the notification after every change of a destination. */
export const DESTINATIONS_CHANGED = 'destinations'

interface Which {
  readonly projectId: string
  readonly kind: DestinationKind
  readonly id: string
}

export const findDestination = (reader: Reader, { projectId, kind, id }: Which) =>
  reader
    .read<DestinationTables>()
    .selectFrom('destinations')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .where('kind', '=', kind)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()

export const lockDestination = (tx: Transaction, { projectId, kind, id }: Which) =>
  tx
    .lock(
      tx
        .write<DestinationTables>()
        .selectFrom('destinations')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .where('kind', '=', kind)
        .where('deleted_at', 'is', null),
    )
    .executeTakeFirst()

interface FailingFilter {
  readonly projectId?: string | undefined
  readonly failingBefore: number
  readonly limit: number
}

/** Destinations that Jeton disabled, then active ones that have failed since before a time, the longest first. */
export async function listFailing(
  reader: Reader,
  { projectId, failingBefore, limit }: FailingFilter,
): Promise<DestinationRow[]> {
  const all = reader
    .read<DestinationTables>()
    .selectFrom('destinations')
    .selectAll()
    .$if(projectId !== undefined, (query) => query.where('project_id', '=', projectId!))
    .where('deleted_at', 'is', null)
    .limit(limit)
  // Apart, because each has its own index of few rows. Conditions of partial indexes are literals.
  const disabled = all
    .where('active', '=', sql.lit(0))
    .where('disabled_reason', 'is not', null)
    .where('disabled_reason', '!=', DISABLED_BY_OPERATOR)
  const failing = all
    .where('active', '=', 1)
    .where('failing_since', '<=', failingBefore)
    .orderBy('failing_since')
  const found = await Promise.all([disabled.execute(), failing.execute()])
  return found.flat().slice(0, limit)
}

export async function findDestinations(
  reader: Reader,
  names: readonly { project_id: string; id: string }[],
): Promise<DestinationRow[]> {
  if (names.length === 0) return []
  return reader
    .read<DestinationTables>()
    .selectFrom('destinations')
    .selectAll()
    .where((eb) =>
      eb.or(
        names.map(({ project_id, id }) => eb.and([eb('project_id', '=', project_id), eb('id', '=', id)])),
      ),
    )
    .where('deleted_at', 'is', null)
    .execute()
}

export interface DestinationFilter {
  readonly projectId: string
  readonly kind: DestinationKind
  readonly name?: string | undefined
  readonly campaignId?: string | undefined
  readonly active?: boolean | undefined
}

export async function listDestinationRows(
  reader: Reader,
  filter: DestinationFilter,
  page: Page,
): Promise<Rows<DestinationRow>> {
  let query = reader
    .read<DestinationTables>()
    .selectFrom('destinations')
    .where('project_id', '=', filter.projectId)
    .where('kind', '=', filter.kind)
    .where('deleted_at', 'is', null)
  if (filter.name !== undefined) query = query.where('name', '=', filter.name)
  if (filter.campaignId !== undefined) query = query.where('campaign_id', '=', filter.campaignId)
  if (filter.active !== undefined) query = query.where('active', '=', filter.active ? 1 : 0)
  const total = await countUpTo(reader, query)
  const rows = await query
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .offset(page.offset)
    .execute()
  return { rows, total }
}

export async function insertDestination(tx: Transaction, row: DestinationRow): Promise<void> {
  await tx.write<DestinationTables>().insertInto('destinations').values(row).execute()
  await tx.notify(DESTINATIONS_CHANGED)
}

export async function updateDestinationRow(
  tx: Transaction,
  row: DestinationRow,
  change: Partial<DestinationRow>,
): Promise<void> {
  await tx
    .write<DestinationTables>()
    .updateTable('destinations')
    .set(change)
    .where('project_id', '=', row.project_id)
    .where('id', '=', row.id)
    .execute()
  await tx.notify(DESTINATIONS_CHANGED)
}

export const findDestinationNamed = (
  reader: Reader,
  { projectId, kind, name }: { projectId: string; kind: DestinationKind; name: string },
): Promise<{ id: string } | undefined> =>
  reader
    .read<DestinationTables>()
    .selectFrom('destinations')
    .select('id')
    .where('project_id', '=', projectId)
    .where('kind', '=', kind)
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()

/** Lists up to 100 destinations of all projects, ordered by id, after the given one. */
export async function listDestinationsAfter(
  reader: Reader,
  after: Pick<DestinationRow, 'project_id' | 'id'> | undefined,
): Promise<DestinationRow[]> {
  let query = reader.read<DestinationTables>().selectFrom('destinations').where('deleted_at', 'is', null)
  if (after)
    query = query.where(({ eb, or, and }) =>
      or([
        eb('project_id', '>', after.project_id),
        and([eb('project_id', '=', after.project_id), eb('id', '>', after.id)]),
      ]),
    )
  return query.selectAll().orderBy('project_id').orderBy('id').limit(100).execute()
}

/** Length of `v1.`, an eight-digit key id and a dot: the prefix of an encrypted value that names its key. */
const KEY_ID_END = 12

/** Seeks from one beginning of a secret to the next, because there are few keys and many secrets. */
const SECRET_BEGINNINGS = (() => {
  const beginning = sql`substr(secret, 1, ${sql.lit(KEY_ID_END)})`
  const first = sql`select min(${beginning}) from destinations`
  return sql<{ sealed: string }>`
    with recursive seek(sealed) as (
      select (${first}) union all
      select (${first} where ${beginning} > seek.sealed) from seek where seek.sealed is not null
    )
    select sealed from seek where sealed is not null`
})()

/** Ids of the encryption keys that stored secrets and header values were encrypted with. Deleted destinations have none. */
export async function listNeededKeyIds(reader: Reader): Promise<string[]> {
  const all = reader.read<DestinationTables>().selectFrom('destinations')
  const [secrets, previous, headers] = await Promise.all([
    SECRET_BEGINNINGS.execute(reader.read<DestinationTables>() as never),
    all.select('previous_secret').where('previous_until', 'is not', null).execute(),
    // A literal, like in the condition of the index.
    all.select('headers').where('headers', '<>', sql.lit('{}')).execute(),
  ])
  const sealed = [
    ...secrets.rows.map((row) => row.sealed),
    ...previous.map(({ previous_secret }) => previous_secret ?? ''),
    ...headers.flatMap((row) => Object.values(JSON.parse(row.headers) as Record<string, string>)),
  ]
  return [...new Set(sealed.map(keyIdIn))].filter((id) => id !== undefined).sort()
}

/** Columns that are cleared when a destination is deleted. */
export const WITHOUT_SECRETS = {
  secret: '',
  headers: '{}',
  previous_secret: null,
  previous_until: null,
} as const

/** Marks all destinations of a deleted project as deleted. */
export async function markDestinationsDeleted(tx: Transaction, projectId: string): Promise<void> {
  const now = await tx.now()
  await tx
    .write<DestinationTables>()
    .updateTable('destinations')
    .set({ ...WITHOUT_SECRETS, deleted_at: now, updated_at: now })
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .execute()
  await tx.notify(DESTINATIONS_CHANGED)
}

export async function deleteDestinationsOfProject(tx: Transaction, projectId: string): Promise<void> {
  await tx.write<DestinationTables>().deleteFrom('destinations').where('project_id', '=', projectId).execute()
}
