import { sql } from 'kysely'
import { countUpTo, type Reader, type Transaction } from '../../platform/database/index.ts'
import { keyIdIn } from '../../platform/encryption.ts'
import type { Page, Rows } from '../../platform/http/index.ts'
import type { EventTables } from '../events/index.ts'

export type DestinationKind = 'webhook' | 'distribution'

/** Where events are sent: a webhook of the project, or a distribution of one of its loyalty campaigns. */
export interface DestinationRow {
  project_id: string
  id: string
  kind: DestinationKind
  /** Only distributions have these three. */
  name: string | null
  campaign_id: string | null
  event_name: string | null
  /** JSON: each name with its encrypted value. */
  headers: string
  target_url: string
  /** JSON: kinds. */
  events: string
  /** 1 or 0: PostgreSQL and SQLite agree on numbers, not on booleans. */
  active: number
  disabled_reason: string | null
  description: string | null
  /** Encrypted, like the one before it, which signs as well until `previous_until`. */
  secret: string
  secret_last4: string
  previous_secret: string | null
  previous_until: number | null
  /** Since when every attempt has failed; null after a success. */
  failing_since: number | null
  /** Enabled at this time, and what was held is still to be made due; null once that is done. */
  released_at: number | null
  /**
   * JSON: ids of events that were written before it and not yet fanned out when it was made. By this, and not by
   * clocks, which jump, the fan-out knows what it must not get.
   */
  skips: string
  created_at: number
  updated_at: number
  /** Stays for the record of what was sent to it, without its secrets. */
  deleted_at: number | null
}

export interface DestinationTables {
  destinations: DestinationRow
}

/** Topic that is notified after every change of a destination. */
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

export interface DestinationFilter {
  readonly projectId: string
  readonly kind: DestinationKind
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

/** Of all projects, in the order of their ids, a hundred at a time: those after this one. */
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

/** `v1.`, the eight digits of a key id, and the dot behind it: all of a sealed value that names its key. */
const KEY_ID_END = 12

/** Ids of the encryption keys that stored secrets and header values need. */
export async function listNeededKeyIds(reader: Reader): Promise<string[]> {
  const rows = await reader
    .read<DestinationTables>()
    .selectFrom('destinations')
    .select([
      sql<string>`substr(secret, 1, ${sql.lit(KEY_ID_END)})`.as('secret'),
      sql<string | null>`substr(previous_secret, 1, ${sql.lit(KEY_ID_END)})`.as('previous'),
      'headers',
    ])
    .distinct()
    .where('deleted_at', 'is', null)
    .execute()
  const sealed = rows.flatMap(({ secret, previous, headers }) => [
    secret,
    previous ?? '',
    ...Object.values(JSON.parse(headers) as Record<string, string>),
  ])
  return [...new Set(sealed.map(keyIdIn))].filter((id) => id !== undefined).sort()
}

/** Enabled lately, with what was held still to be made due. */
export const listReleased = (reader: Reader): Promise<DestinationRow[]> =>
  reader
    .read<DestinationTables>()
    .selectFrom('destinations')
    .selectAll()
    .where('released_at', 'is not', null)
    .execute()

/** Unless it was enabled once more since it was read. */
export async function finishRelease(tx: Transaction, row: DestinationRow): Promise<void> {
  await tx
    .write<DestinationTables>()
    .updateTable('destinations')
    .set({ released_at: null })
    .where('project_id', '=', row.project_id)
    .where('id', '=', row.id)
    .where('released_at', '=', row.released_at)
    .execute()
}

/** What a destination loses with its end. */
export const WITHOUT_SECRETS = {
  secret: '',
  headers: '{}',
  previous_secret: null,
  previous_until: null,
} as const

/** Every destination of a project, at its end. */
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

/** A secret that no longer signs is not kept. */
export async function forgetPreviousSecrets(tx: Transaction, now: number): Promise<void> {
  await tx
    .write<DestinationTables>()
    .updateTable('destinations')
    .set({ previous_secret: null, previous_until: null })
    .where('previous_until', '<=', now)
    .execute()
}

/** Much longer than the clocks of two writers may differ. */
const HOUR_MS = 3_600_000

/** Once nothing from before them waits in their project, no event can come that they must not get. */
export async function forgetSkips(tx: Transaction): Promise<void> {
  await tx
    .write<DestinationTables & EventTables>()
    .updateTable('destinations')
    .set({ skips: '[]' })
    .where('skips', '<>', '[]')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('outbox')
            .select('outbox.event_id')
            .whereRef('outbox.project_id', '=', 'destinations.project_id')
            .where(sql<boolean>`outbox.created_at < destinations.created_at + ${sql.lit(HOUR_MS)}`),
        ),
      ),
    )
    .execute()
}

export async function deleteDestinationsOfProject(tx: Transaction, projectId: string): Promise<void> {
  await tx.write<DestinationTables>().deleteFrom('destinations').where('project_id', '=', projectId).execute()
}
