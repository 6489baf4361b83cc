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

/** As much of the event's `data` as we look into; its schema has been checked. */
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
  readonly apiKey: { readonly name: string; readonly app_id: string }
}

interface Reported {
  readonly eventId: string
  /** Reported before, with the same content: nothing was written now. */
  readonly duplicate: boolean
}

/** Writes the event of a redemption that was completed elsewhere: once, however often and at once it is reported. */
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
    message: `Another redemption was reported as ${JSON.stringify(sourceId.slice(0, 80))} before.`,
    details: 'Nothing was written. Give every redemption an id of its own; repeat a report only unchanged.',
    resource: { type: 'event', id: before.event_id },
  })
}

/** The event has exactly the fields of its kind, in their order; what a caller adds beside them is ignored. */
const knownFields = (data: ReportedData): object =>
  Object.fromEntries(DATA_FIELDS.map((name) => [name, data[name as keyof ReportedData]]))

const contentOf = ({ completedAt, campaignId }: Report) => ({ completedAt, campaignId })

/** The order of keys says nothing: a platform may read its outbox from a column that does not keep it. */
const contentDigest = (content: object): string =>
  digestOf(
    JSON.stringify(content, (_, value) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    ),
  ).toString('hex')
