import { REWARD_REDEMPTION_COMPLETED } from '../../contract/event-kinds.ts'
import { Problem } from '../../contract/problem.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import { digestOf, type RandomBytes } from '../../platform/secrets.ts'
import { findReport, insertReport } from './report.store.ts'
import { DATA_FIELDS } from './reward-redemption-completed.ts'
import { newEventId, writeEvent } from './write-event.ts'

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
}

/** Parts of the event's `data` that are used here. The schema has been validated. */
interface ReportedData {
  readonly customer: { readonly id: string }
  readonly campaign: { readonly id: string } | null
}

export interface Report {
  readonly projectId: string
  readonly sourceId: string
  readonly completedAt: number | undefined
  readonly campaignId: string | undefined
  readonly data: ReportedData
  readonly requestId: string
  readonly traceparent: string | null
  readonly apiKey: { readonly name: string; readonly app_id: string }
}

interface Reported {
  readonly eventId: string
  /** True if the same report was written before; nothing was written now. */
  readonly duplicate: boolean
}

/** Writes the event of a redemption that was completed elsewhere, exactly once even if reports arrive concurrently. */
export const reportRedemption = (deps: Deps, report: Report): Promise<Reported> =>
  deps.db.transaction((tx) => reportIn(deps, tx, report))

async function reportIn(deps: Deps, tx: Transaction, report: Report): Promise<Reported> {
  const { projectId, sourceId } = report
  const data = knownFields(report.data)
  const bodyDigest = contentDigest({ ...contentOf(report), data })
  const now = await tx.now()
  const eventId = newEventId(deps.random, now)
  const isNew = await insertReport(tx, {
    project_id: projectId,
    source_id: sourceId,
    body_digest: bodyDigest,
    event_id: eventId,
    created_at: now,
  })
  if (!isNew) return earlier(tx, report, bodyDigest)
  await writeEvent(deps, tx, {
    id: eventId,
    projectId,
    kind: REWARD_REDEMPTION_COMPLETED,
    entityId: report.data.customer.id,
    campaignId: report.campaignId ?? report.data.campaign?.id ?? null,
    groupId: report.requestId,
    traceparent: report.traceparent,
    source: { channel: 'API', apiKey: report.apiKey },
    data,
    occurredAt: report.completedAt,
  })
  return { eventId, duplicate: false }
}

async function earlier(
  tx: Transaction,
  { projectId, sourceId }: Report,
  bodyDigest: string,
): Promise<Reported> {
  const before = (await findReport(tx, projectId, sourceId))!
  if (before.body_digest === bodyDigest) return { eventId: before.event_id, duplicate: true }
  throw new Problem('source_id_reused', {
    message: `Another redemption was already reported as ${JSON.stringify(sourceId.slice(0, 80))}.`,
    details:
      'Nothing was written. Use a unique source_id per redemption, and repeat a report only with the same content.',
    resource: { type: 'event', id: before.event_id },
  })
}

/** Keeps exactly the fields of the kind, in their order, and ignores additional ones. */
const knownFields = (data: ReportedData): object =>
  Object.fromEntries(DATA_FIELDS.map((name) => [name, data[name as keyof ReportedData]]))

const contentOf = ({ completedAt, campaignId }: Report) => ({ completedAt, campaignId })

/** Ignores the order of keys, because a client may store the report in a column that does not keep it. */
const contentDigest = (content: object): string =>
  digestOf(
    JSON.stringify(content, (_, value) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    ),
  ).toString('hex')
