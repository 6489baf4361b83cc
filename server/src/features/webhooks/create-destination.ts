import { ID_PREFIX } from '../../contract/ids.ts'
import { Problem } from '../../contract/problem.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { Vault } from '../../platform/encryption.ts'
import type { Actor } from '../../platform/http/index.ts'
import type { EgressPolicy } from '../../platform/outbound/index.ts'
import { newId, type RandomBytes } from '../../platform/secrets.ts'
import { recordChange } from '../audit/index.ts'
import { listOutboxEventIds } from '../events/index.ts'
import { requireLockedProject } from '../projects/index.ts'
import {
  type DestinationKind,
  type DestinationRow,
  DISABLED_BY_OPERATOR,
  findDestinationNamed,
  insertDestination,
} from './destination.store.ts'
import { checkFields, type DestinationFields, destinationView, kindsOf } from './destination.ts'
import { sealHeaders } from './extra-headers.ts'
import { loyaltyCampaignId } from './loyalty-campaign.ts'
import { makeSecret } from './signing-secret.ts'

export interface DestinationDeps {
  readonly db: Database
  readonly random: RandomBytes
  readonly vault: Vault
  readonly egressPolicy: EgressPolicy
}

export interface NewDestination {
  readonly projectId: string
  readonly kind: DestinationKind
  readonly fields: DestinationFields & { readonly target_url: string }
  /** Refuses a name that the project already has. Names of webhooks are always unique. */
  readonly uniqueName?: boolean | undefined
  readonly actor: Actor
}

export const destinationNameTaken = (kind: DestinationKind, name: string): Problem =>
  new Problem('duplicate_found', {
    message: `The project already has a ${kind} named ${JSON.stringify(name)}.`,
    details: `Choose another name, or change that one: jeton ${kind} update --help`,
  })

interface Created {
  readonly row: DestinationRow
  /** Shown only in this response. */
  readonly secret: string
}

export async function createDestination(deps: DestinationDeps, wanted: NewDestination): Promise<Created> {
  checkFields(deps.egressPolicy, wanted.fields)
  return deps.db.transaction((tx) => createIn(deps, tx, wanted))
}

async function createIn(deps: DestinationDeps, tx: Transaction, wanted: NewDestination): Promise<Created> {
  const { projectId, kind, fields } = wanted
  // Locked, so that no destination is added to a project that is being deleted.
  await requireLockedProject(tx, projectId)
  await refuseTakenName(tx, wanted)
  const campaignId =
    fields.campaign_id === undefined ? null : await loyaltyCampaignId(tx, projectId, fields.campaign_id)
  const owner = { project_id: projectId, id: newId(deps.random, ID_PREFIX[kind]) }
  const { shown, stored } = makeSecret(deps, owner)
  const row: DestinationRow = {
    ...owner,
    kind,
    campaign_id: campaignId,
    ...storedFields(deps, owner, fields),
    ...stored,
    previous_secret: null,
    previous_until: null,
    failing_since: null,
    released_at: null,
    skips: JSON.stringify(await eventsBefore(tx, projectId)),
    created_at: await tx.now(),
    updated_at: await tx.now(),
    deleted_at: null,
  }
  await insertDestination(tx, row)
  await recordChange(deps, tx, {
    actor: wanted.actor,
    action: `${kind}.created`,
    projectId,
    subject: { type: kind, id: row.id },
    before: null,
    after: destinationView(row),
  })
  return { row, secret: shown }
}

/** The project is locked, so that no other request can take the name meanwhile. */
async function refuseTakenName(tx: Transaction, wanted: NewDestination): Promise<void> {
  const { projectId, kind, fields, uniqueName = kind === 'webhook' } = wanted
  if (!uniqueName || !fields.name) return
  if (await findDestinationNamed(tx, { projectId, kind, name: fields.name }))
    throw destinationNameTaken(kind, fields.name)
}

/** A new destination stores the ids of earlier events that are still in the outbox. Above this number creation is refused. */
const MAX_SKIPPED_EVENTS = 10_000

async function eventsBefore(tx: Transaction, projectId: string): Promise<string[]> {
  const waiting = await listOutboxEventIds(tx, projectId, MAX_SKIPPED_EVENTS + 1)
  if (waiting.length > MAX_SKIPPED_EVENTS)
    throw new Problem('temporarily_unavailable', {
      message: `More than ${MAX_SKIPPED_EVENTS} events of this project are waiting to be sent. Create the destination when the backlog is smaller.`,
      details: 'Check that a worker is running (jeton serve or jeton worker), then retry.',
      headers: { 'retry-after': '5' },
    })
  return waiting
}

function storedFields(
  { vault }: DestinationDeps,
  owner: { project_id: string; id: string },
  fields: NewDestination['fields'],
) {
  const { active = true } = fields
  return {
    name: fields.name ?? null,
    event_name: fields.event_name ?? null,
    headers: sealHeaders(vault, { ...owner, headers: '{}' }, fields.headers ?? {}),
    target_url: fields.target_url,
    events: kindsOf(fields.events),
    active: active ? 1 : 0,
    disabled_reason: active ? null : DISABLED_BY_OPERATOR,
    description: fields.description ?? null,
  }
}
