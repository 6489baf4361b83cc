import { listExhausted } from '../../features/deliveries/index.ts'
import { type DestinationRow, findDestinations, listFailing } from '../../features/webhooks/index.ts'
import { type Attention, MAX_PER_RULE, type Scope, type Subject } from './attention.ts'

/** A destination that fails for a shorter time may recover by itself. */
const FAILING_MS = 60 * 60_000

const subjectOf = (row: DestinationRow): Subject => ({
  type: row.kind,
  id: row.id,
  name: row.name ?? row.target_url,
  project_id: row.project_id,
})

const pathOf = (row: DestinationRow): string =>
  `/management/v1/projects/${row.project_id}/${row.kind}s/${row.id}`

export async function destinationRules({ db, projectId, now }: Scope): Promise<Attention[]> {
  const failing = await listFailing(db, { projectId, failingBefore: now - FAILING_MS, limit: MAX_PER_RULE })
  const exhausted = await listExhausted(db, { projectId, now, limit: MAX_PER_RULE })
  const rows = new Map((await findDestinations(db, exhausted)).map((row) => [row.id, row]))
  return [
    ...failing.map((row) => (row.active === 0 ? disabled(row) : failed(row))),
    ...exhausted.flatMap(({ id, exhausted: count }) => {
      const row = rows.get(id)
      return row ? [givenUp(row, count)] : []
    }),
  ]
}

const disabled = (row: DestinationRow): Attention => ({
  kind: 'destination.disabled',
  severity: 'error',
  since: row.updated_at,
  subject: subjectOf(row),
  message: `Events to ${row.target_url} are held: ${row.disabled_reason}.`,
  fix: {
    command: `jeton ${row.kind} enable ${row.id} --project ${row.project_id}`,
    call: `POST ${pathOf(row)}/enable`,
  },
})

const failed = (row: DestinationRow): Attention => ({
  kind: 'destination.failing',
  severity: 'error',
  since: row.failing_since,
  subject: subjectOf(row),
  message: `Every attempt to deliver to ${row.target_url} has failed for an hour or longer.`,
  fix: {
    command: `jeton delivery recover --destination ${row.id} --include failing --project ${row.project_id}`,
    call: `POST /management/v1/projects/${row.project_id}/deliveries/recover`,
  },
})

const givenUp = (row: DestinationRow, count: number): Attention => ({
  kind: 'deliveries.exhausted',
  severity: 'warning',
  since: null,
  subject: subjectOf(row),
  message: `${count} ${count === 1 ? 'delivery' : 'deliveries'} to ${row.target_url} used up every retry.`,
  fix: {
    command: `jeton delivery recover --destination ${row.id} --project ${row.project_id}`,
    call: `POST /management/v1/projects/${row.project_id}/deliveries/recover`,
  },
})
