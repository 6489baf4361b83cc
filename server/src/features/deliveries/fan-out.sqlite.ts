import type { SQLInputValue } from 'node:sqlite'
import type { ProgramContext } from '../../platform/database/index.ts'
import type { DeliveryRow, PublicationRow } from './delivery.ts'
import type { FannedOut, FanOutMessage } from './fan-out-message.ts'

const DELIVERY = [
  ...['project_id', 'id', 'event_id', 'destination_id', 'status', 'head', 'tail', 'attempts_made', 'slot'],
  ...['first_attempt_at', 'next_attempt_at', 'claim_id', 'created_at', 'settled_at'],
] as (keyof DeliveryRow)[]
const PUBLICATION = [
  ...['project_id', 'id', 'event_id', 'distribution_id', 'customer_id', 'data', 'created_at'],
] as (keyof PublicationRow)[]

const insertOf = (table: string, columns: readonly string[]): string =>
  `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`
const INSERT_DELIVERY = insertOf('deliveries', DELIVERY)
const INSERT_PUBLICATION = insertOf('publications', PUBLICATION)

/** Runs inside the SQLite thread, in a transaction of its own. */
export function run({ prepare }: ProgramContext, { now, made }: FanOutMessage): void {
  const mark = prepare(
    'update events set fanned_out_at = ? where project_id = ? and id = ? and fanned_out_at is null',
  )
  const insertDelivery = prepare(INSERT_DELIVERY)
  const insertPublication = prepare(INSERT_PUBLICATION)
  for (const { event, deliveries, publications } of JSON.parse(made) as FannedOut[]) {
    if (mark.run(now, event.project_id, event.id).changes === 0) continue
    for (const row of deliveries) insertDelivery.run(...DELIVERY.map((name): SQLInputValue => row[name]))
    for (const row of publications)
      insertPublication.run(...PUBLICATION.map((name): SQLInputValue => row[name]))
  }
}
