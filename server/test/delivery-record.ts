import { expect } from 'vitest'
import { ID_PREFIX } from '../src/contract/ids.ts'
import { insertDelivery } from '../src/features/deliveries/delivery.store.ts'
import type { AttemptRow, DeliveryRow, DeliveryTables } from '../src/features/deliveries/delivery.ts'
import { makeDelivery } from '../src/features/deliveries/make-delivery.ts'
import { makePayload } from '../src/features/deliveries/payload.ts'
import { type EventRow, insertEvent, newEventId } from '../src/features/events/index.ts'
import type { PublicationRow, PublicationTables } from '../src/features/publications/index.ts'
import type { DestinationRow, DestinationTables } from '../src/features/webhooks/index.ts'
import { newId, newTimedId, randomBytes } from '../src/platform/secrets.ts'
import { redemptionData } from './reported-redemption.ts'
import type { TimedService } from './timed-service.ts'

export const KIND = 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED'
const random = randomBytes

export type Wanted = Partial<Omit<DeliveryRow, 'destination_id'>>

/** Deliveries as the worker leaves them behind, written without one. */
export type DeliveryRecord = Awaited<ReturnType<typeof openRecord>>

let projects = 0

export async function openRecord(service: TimedService, name = `Record ${++projects}`) {
  const { db } = service.service
  const { id: projectId } = await service.project(name)
  const path = `/projects/${projectId}`

  async function webhook(fields: object = {}): Promise<string> {
    const body = { target_url: 'https://hooks.example.com/jeton', events: [KIND], ...fields }
    const { status, text, body: made } = await service.manage('POST', `${path}/webhooks`, body)
    expect(status, text).toBe(201)
    return made.id
  }

  const destination = (id: string): Promise<DestinationRow> =>
    db
      .read<DestinationTables>()
      .selectFrom('destinations')
      .selectAll()
      .where('project_id', '=', projectId)
      .where('id', '=', id)
      .executeTakeFirstOrThrow()

  /** The row of an event that has been fanned out. */
  async function event(fields: Partial<EventRow> = {}): Promise<EventRow> {
    const now = service.clock.now()
    const row: EventRow = {
      project_id: projectId,
      id: newEventId(random, now),
      kind: KIND,
      version: '2024-01-01',
      entity_id: 'cust_7',
      campaign_id: null,
      group_id: null,
      channel: 'API',
      key_name: null,
      key_app_id: null,
      traceparent: null,
      data: JSON.stringify(redemptionData()),
      occurred_at: now,
      created_at: now,
      ...fields,
    }
    await db.transaction((tx) => insertEvent(tx, row))
    return row
  }

  /** Several deliveries of one event to one destination are not for real, and good enough for lists. */
  async function deliveries(to: string, wanted: readonly Wanted[], of?: EventRow): Promise<DeliveryRow[]> {
    const [about, where] = [of ?? (await event()), await destination(to)]
    const rows = wanted.map((fields) => {
      const now = fields.created_at ?? service.clock.now()
      const { delivery } = makeDelivery({ event: about, destination: where, now })
      const id = newTimedId(random, ID_PREFIX.delivery, now)
      const payload = makePayload({ deliveryId: id, event: about, destination: where })
      return { ...delivery, id, ...payload, ...fields }
    })
    await db.transaction(async (tx) => {
      for (const row of rows) await insertDelivery(tx, row)
    })
    return rows
  }

  /** Inserts the record of one attempt for each delivery. */
  async function attempts(of: readonly DeliveryRow[], fields: Partial<AttemptRow> = {}): Promise<void> {
    const rows = of.map(({ id }) => ({
      project_id: projectId,
      delivery_id: id,
      number: 1,
      at: service.clock.now(),
      duration_ms: 12,
      status: 200,
      response_body: 'thanks',
      error: null,
      ...fields,
    }))
    await db.transaction((tx) => tx.write<DeliveryTables>().insertInto('attempts').values(rows).execute())
  }

  return {
    projectId,
    path,
    webhook,
    event,
    deliveries,
    delivery: async (to: string, fields: Wanted = {}, of?: EventRow) =>
      (await deliveries(to, [fields], of))[0]!,
    attempt: (of: DeliveryRow, fields: Partial<AttemptRow> = {}) => attempts([of], fields),
    attempts,
    publication: async (of: EventRow, fields: Partial<PublicationRow> = {}): Promise<PublicationRow> => {
      const id = newId(random, 'pub_')
      const row = {
        project_id: projectId,
        id,
        event_id: of.id,
        distribution_id: 'distr_1',
        customer_id: 'cust_7',
        data: JSON.stringify({ id, object: 'publication', customer_id: 'cust_7' }),
        created_at: of.created_at,
        ...fields,
      }
      await db.transaction((tx) =>
        tx.write<PublicationTables>().insertInto('publications').values(row).execute(),
      )
      return row
    },
    row: (id: string): Promise<DeliveryRow | undefined> =>
      db
        .read<DeliveryTables>()
        .selectFrom('deliveries')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst(),
    /** Newest first. */
    audit: async (subject: string) =>
      (await service.manage('GET', `${path}/audit-log?subject=${subject}&limit=100`)).body.data as {
        action: string
        before: unknown
        after: Record<string, unknown>
      }[],
  }
}

/** Fields of rows that are settled. */
export const DELIVERED: Wanted = {
  status: 'delivered',
  attempts_made: 1,
  next_attempt_at: null,
  settled_at: 1,
}
export const EXHAUSTED: Wanted = {
  status: 'exhausted',
  attempts_made: 13,
  slot: 12,
  first_attempt_at: 1,
  next_attempt_at: null,
  settled_at: 1,
  last_status: 503,
  last_error: 'answered 503',
}
