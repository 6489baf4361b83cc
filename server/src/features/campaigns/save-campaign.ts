import { ID_PREFIX } from '../../contract/ids.ts'
import { notFound, Problem } from '../../contract/problem.ts'
import { type Reader, type Transaction, UniqueConflict } from '../../platform/database/index.ts'
import { dateOf, given, type Metadata, metadataText } from '../../platform/http/index.ts'
import { newId, type RandomBytes } from '../../platform/secrets.ts'
import {
  type CampaignRow,
  type CampaignType,
  deleteCampaignRow,
  findCampaign,
  insertCampaign,
  lockCampaign,
  updateCampaignRow,
} from './campaign.store.ts'
import { checkDates, planFrom, type SentPlan } from './campaign.ts'
import { hasVouchers } from './voucher.store.ts'

export interface CampaignFields {
  readonly name?: string | undefined
  readonly type?: CampaignRow['type'] | undefined
  readonly auto_join?: boolean | undefined
  readonly join_once?: boolean | undefined
  readonly active?: boolean | undefined
  readonly start_date?: string | null | undefined
  readonly expiration_date?: string | null | undefined
  readonly description?: string | null | undefined
  readonly metadata?: Metadata | null | undefined
}

export interface NewCampaign extends CampaignFields {
  readonly name: string
  readonly campaign_type: CampaignType
  readonly voucher: SentPlan
}

/** A campaign by its id or name, optionally of one type only. */
export interface CampaignName {
  readonly projectId: string
  readonly idOrName: string
  readonly type?: CampaignType | undefined
}

export async function requireCampaign(
  reader: Reader,
  { projectId, idOrName, type }: CampaignName,
): Promise<CampaignRow> {
  const row = await findCampaign(reader, projectId, idOrName)
  if (!row || (type !== undefined && row.campaign_type !== type)) throw notFound('campaign', idOrName)
  return row
}

/** Locks the campaign before any other row: for joining it, assigning a reward to it, or deleting it. */
export async function requireLockedCampaign(tx: Transaction, name: CampaignName): Promise<CampaignRow> {
  const { id } = await requireCampaign(tx, name)
  const row = await lockCampaign(tx, name.projectId, id)
  if (!row) throw notFound('campaign', name.idOrName)
  return row
}

export async function createCampaign(
  { random }: { random: RandomBytes },
  tx: Transaction,
  { projectId, fields }: { projectId: string; fields: NewCampaign },
): Promise<CampaignRow> {
  const row: CampaignRow = {
    project_id: projectId,
    id: newId(random, ID_PREFIX.campaign),
    name: fields.name,
    campaign_type: fields.campaign_type,
    type: 'AUTO_UPDATE',
    voucher: JSON.stringify(planFrom(fields.voucher)),
    auto_join: 0,
    join_once: 1,
    active: 1,
    description: null,
    metadata: '{}',
    starts_at: null,
    expires_at: null,
    created_at: await tx.now(),
    updated_at: null,
    ...columnsOf(fields),
  }
  checkDates(row)
  if (!(await insertCampaign(tx, row))) throw nameTaken(fields.name)
  return row
}

/** Replaces the given fields. The voucher template cannot be changed. */
export async function changeCampaign(
  tx: Transaction,
  name: CampaignName,
  fields: CampaignFields,
): Promise<CampaignRow> {
  const before = await requireLockedCampaign(tx, name)
  const change = { ...columnsOf(fields), updated_at: await tx.now() }
  const after = { ...before, ...change }
  checkDates(after)
  try {
    await updateCampaignRow(tx, before, change)
  } catch (error) {
    throw error instanceof UniqueConflict ? nameTaken(after.name) : error
  }
  return after
}

interface DeleteDeps {
  /** Describes what other features still need the campaign for, for example "2 rewards". */
  readonly usesOfCampaign: (reader: Reader, projectId: string, id: string) => Promise<readonly string[]>
}

export async function deleteCampaign(deps: DeleteDeps, tx: Transaction, name: CampaignName): Promise<void> {
  const row = await requireLockedCampaign(tx, name)
  const uses = [...(await deps.usesOfCampaign(tx, row.project_id, row.id))]
  if (await hasVouchers(tx, row.project_id, row.id)) uses.unshift('members or vouchers')
  if (uses.length > 0)
    throw new Problem('resource_in_use', {
      message: `The campaign ${JSON.stringify(row.name)} still has ${uses.join(' and ')}.`,
      details: 'Nothing was deleted. To stop it, PUT {"active":false}.',
      resource: { type: 'campaign', id: row.id },
    })
  await deleteCampaignRow(tx, row)
}

const bit = (value: boolean | undefined): number | undefined =>
  value === undefined ? undefined : Number(value)

function columnsOf(fields: CampaignFields): Partial<CampaignRow> {
  const columns = {
    name: fields.name,
    type: fields.type,
    auto_join: bit(fields.auto_join),
    join_once: bit(fields.join_once),
    active: bit(fields.active),
    starts_at: dateOf(fields.start_date, 'start_date'),
    expires_at: dateOf(fields.expiration_date, 'expiration_date'),
    description: fields.description,
    metadata: fields.metadata === undefined ? undefined : metadataText(fields.metadata),
  }
  return given(columns, Object.keys(columns) as (keyof typeof columns)[]) as Partial<CampaignRow>
}

const nameTaken = (name: string): Problem =>
  new Problem('duplicate_found', {
    message: `A campaign named ${JSON.stringify(name)} already exists.`,
    details: 'Choose another name. Nothing was changed.',
    resource: { type: 'campaign', id: name },
  })
