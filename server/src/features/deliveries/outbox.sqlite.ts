import type { WriterContext } from '../../platform/database/index.ts'
import type { PublicationRow } from '../publications/index.ts'
import type { DeliveryRow } from './delivery.ts'

/** Key of an outbox row, and the id of its event, which is null if the event was deleted. */
export interface OutboxRow {
  readonly outbox_created_at: number
  readonly outbox_project_id: string
  readonly outbox_event_id: string
  readonly id: string | null
}

export interface RelayInput {
  readonly rows: readonly OutboxRow[]
  readonly deliveries: readonly DeliveryRow[]
  readonly publications: readonly PublicationRow[]
}

const DELIVERY = [
  ...(['project_id', 'id', 'event_id', 'destination_id', 'status', 'head', 'tail', 'attempts_made'] as const),
  ...(['slot', 'next_attempt_at', 'claim_id', 'created_at'] as const),
] as const satisfies (keyof DeliveryRow)[]
const PUBLICATION = [
  ...(['project_id', 'id', 'event_id', 'distribution_id', 'customer_id', 'data', 'created_at'] as const),
] as const satisfies (keyof PublicationRow)[]

/** An existing row has the same id and bytes. */
const insertInto = (table: string, columns: readonly string[]): string =>
  `insert or ignore into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`
const INSERT_DELIVERY = insertInto('deliveries', DELIVERY)
const INSERT_PUBLICATION = insertInto('publications', PUBLICATION)
const DELETE = 'delete from outbox where created_at = ? and project_id = ? and event_id = ?'

/** Runs in the writer thread, in its own transaction. Returns the events that this process relayed. */
export function run({ prepare }: Pick<WriterContext, 'prepare'>, input: RelayInput): string[] {
  const remove = prepare(DELETE)
  const relayed = new Set<string>()
  for (const { outbox_created_at, outbox_project_id, outbox_event_id } of input.rows) {
    const { changes } = remove.run(outbox_created_at, outbox_project_id, outbox_event_id)
    if (changes > 0) relayed.add(outbox_event_id)
  }
  const [insertDelivery, insertPublication] = [prepare(INSERT_DELIVERY), prepare(INSERT_PUBLICATION)]
  for (const row of input.deliveries)
    if (relayed.has(row.event_id)) insertDelivery.run(...DELIVERY.map((name) => row[name]))
  for (const row of input.publications)
    if (relayed.has(row.event_id)) insertPublication.run(...PUBLICATION.map((name) => row[name]))
  return [...relayed]
}
