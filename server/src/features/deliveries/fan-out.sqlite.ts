import type { ProgramContext } from '../../platform/database/index.ts'
import { DELIVERY, type FanOutMessage, PUBLICATION } from './fan-out-message.ts'

const placesFor = (columns: readonly string[]): string => columns.map(() => '?').join(', ')
const INSERT_DELIVERY = `insert into deliveries (project_id, event_id, created_at, status, attempts_made, slot, ${DELIVERY.join(', ')})
  values (?, ?, ?, 'pending', 0, 0, ${placesFor(DELIVERY)})`
const INSERT_PUBLICATION = `insert into publications (project_id, event_id, created_at, ${PUBLICATION.join(', ')})
  values (?, ?, ?, ${placesFor(PUBLICATION)})`

/** Runs inside the SQLite thread, in a transaction of its own. Which events another process had marked before. */
export function run({ prepare }: ProgramContext, { now, events }: FanOutMessage): string[] {
  const mark = prepare(
    'update events set fanned_out_at = ? where project_id = ? and id = ? and fanned_out_at is null',
  )
  const insertDelivery = prepare(INSERT_DELIVERY)
  const insertPublication = prepare(INSERT_PUBLICATION)
  const taken: string[] = []
  for (const { project_id, id, deliveries, publications } of events) {
    if (mark.run(now, project_id, id).changes === 0) taken.push(id)
    else {
      for (const values of deliveries) insertDelivery.run(project_id, id, now, ...values)
      for (const values of publications) insertPublication.run(project_id, id, now, ...values)
    }
  }
  return taken
}
