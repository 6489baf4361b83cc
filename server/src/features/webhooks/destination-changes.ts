import { Problem } from '../../contract/problem.ts'
import { UniqueConflict } from '../../platform/database/index.ts'
import { changeDestination, type DestinationRequest } from './change-destination.ts'
import { type DestinationDeps, destinationNameTaken } from './create-destination.ts'
import { type DestinationRow, DISABLED_BY_OPERATOR, WITHOUT_SECRETS } from './destination.store.ts'
import { checkFields, type DestinationFields, kindsOf } from './destination.ts'
import { sealHeaders } from './extra-headers.ts'
import { loyaltyCampaignId } from './loyalty-campaign.ts'
import { makeSecret } from './signing-secret.ts'

/** Clears the failure record and releases held deliveries. */
const enabledAt = (now: number) => ({
  active: 1,
  disabled_reason: null,
  released_at: now,
  failing_since: null,
})
const disabledFor = (reason: string) => ({ active: 0, disabled_reason: reason, released_at: null })

export const enableDestination = (
  deps: DestinationDeps,
  request: DestinationRequest,
): Promise<DestinationRow> =>
  changeDestination(deps, request, {
    action: 'enabled',
    apply: (row, now) => (row.active === 1 ? null : enabledAt(now)),
  })

/** Keeps the reason if Jeton disabled the destination itself, because that reason is more specific. */
export const disableDestination = (
  deps: DestinationDeps,
  request: DestinationRequest,
): Promise<DestinationRow> =>
  changeDestination(deps, request, {
    action: 'disabled',
    apply: (row) => (row.active === 0 ? null : disabledFor(DISABLED_BY_OPERATOR)),
  })

/** State of the destination when the attempt started. */
type Seen = Pick<DestinationRow, 'project_id' | 'kind' | 'id' | 'target_url' | 'failing_since'>

/**
 * Disables a destination that keeps failing, with an audit entry. Returns false if it was meanwhile disabled, deleted,
 * given another URL or answered.
 */
export async function disableUnreachable(
  deps: Pick<DestinationDeps, 'db' | 'random'>,
  seen: Seen,
  reason: string,
): Promise<boolean> {
  const { project_id, kind, id } = seen
  let changed = false
  const actor = { type: 'system', id: 'delivery', address: null, requestId: null } as const
  const change = {
    action: 'disabled',
    apply(row: DestinationRow) {
      const same = row.target_url === seen.target_url && row.failing_since !== null
      changed = row.active === 1 && same
      return changed ? disabledFor(reason) : null
    },
  }
  try {
    await changeDestination(deps, { projectId: project_id, kind, id, actor }, change)
    return changed
  } catch (error) {
    if (error instanceof Problem && error.key === 'not_found') return false
    throw error
  }
}

export const deleteDestination = (
  deps: DestinationDeps,
  request: DestinationRequest,
): Promise<DestinationRow> =>
  changeDestination(deps, request, {
    action: 'deleted',
    apply: (_, now) => ({ ...WITHOUT_SECRETS, active: 0, deleted_at: now }),
  })

/** Creates a new secret. The previous secret also signs for `overlapSeconds`; an older one stops signing now. */
export async function rotateSecret(
  deps: DestinationDeps,
  request: DestinationRequest & { overlapSeconds: number },
) {
  const made = makeSecret(deps, { project_id: request.projectId, id: request.id })
  const row = await changeDestination(deps, request, {
    action: 'secret_rotated',
    apply: (before, now) => ({
      ...made.stored,
      previous_secret: request.overlapSeconds > 0 ? before.secret : null,
      previous_until: request.overlapSeconds > 0 ? now + request.overlapSeconds * 1000 : null,
    }),
  })
  return { row, secret: made.shown }
}

/** Replaces the given fields. The secret never changes here. */
export async function updateDestination(
  deps: DestinationDeps,
  request: DestinationRequest,
  fields: DestinationFields,
): Promise<DestinationRow> {
  checkFields(deps.egressPolicy, fields)
  try {
    return await changeDestination(deps, request, {
      action: 'updated',
      async apply(row, now, tx) {
        const { campaign_id } = fields
        if (campaign_id === undefined) return differenceOf(deps, { row, fields, now })
        const id = await loyaltyCampaignId(tx, row.project_id, campaign_id)
        return differenceOf(deps, { row, fields: { ...fields, campaign_id: id }, now })
      },
    })
  } catch (error) {
    throw error instanceof UniqueConflict ? destinationNameTaken(request.kind, fields.name ?? '') : error
  }
}

interface Update {
  readonly row: DestinationRow
  readonly fields: DestinationFields
  readonly now: number
}

function differenceOf(
  { vault }: DestinationDeps,
  { row, fields, now }: Update,
): Partial<DestinationRow> | null {
  const { events, active, headers, ...plain } = fields
  const wanted: Partial<DestinationRow> = Object.fromEntries(
    Object.entries(plain).filter(([, value]) => value !== undefined),
  )
  if (events) wanted.events = kindsOf(events)
  if (headers) wanted.headers = sealHeaders(vault, row, headers)
  // A new URL has no failures yet.
  if (wanted.target_url !== undefined && wanted.target_url !== row.target_url) wanted.failing_since = null
  if (active !== undefined && active !== (row.active === 1))
    Object.assign(wanted, active ? enabledAt(now) : disabledFor(DISABLED_BY_OPERATOR))
  const differs = Object.entries(wanted).some(([name, value]) => row[name as keyof DestinationRow] !== value)
  return differs ? wanted : null
}
