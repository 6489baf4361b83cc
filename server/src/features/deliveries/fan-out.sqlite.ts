import type { ProgramContext } from '../../platform/database/index.ts'
import { DELIVERY, type FanOutMessage, PUBLICATION } from './fan-out-message.ts'

const placesFor = (columns: readonly string[]): string => columns.map(() => '?').join(', ')
const INSERT_DELIVERY = `insert into deliveries (project_id, event_id, created_at, status, attempts_made, slot, ${DELIVERY.join(', ')})
  values (?, ?, ?, 'pending', 0, 0, ${placesFor(DELIVERY)})`
const INSERT_PUBLICATION = `insert into publications (project_id, event_id, ${PUBLICATION.join(', ')})
  values (?, ?, ${placesFor(PUBLICATION)})`

const IS_HELD = 'created_at = ? and project_id = ? and event_id = ? and claim_id = ?'

/** Runs inside the SQLite thread, in a transaction of its own. Whether the claim still held all of them. */
export function run({ prepare }: ProgramContext, { now, claimId, free, events }: FanOutMessage): boolean {
  const release = prepare(`delete from waiting_events where ${IS_HELD}`)
  const letGo = prepare(`update waiting_events set claim_id = null, free_at = created_at where ${IS_HELD}`)
  const insertDelivery = prepare(INSERT_DELIVERY)
  const insertPublication = prepare(INSERT_PUBLICATION)
  let isOurs = true
  for (const { key, deliveries, publications } of events) {
    if (release.run(...key, claimId).changes === 0) {
      isOurs = false
      continue
    }
    const [, project_id, id] = key
    for (const values of deliveries) insertDelivery.run(project_id, id, now, ...values)
    for (const values of publications) insertPublication.run(project_id, id, ...values)
  }
  for (const key of free) letGo.run(...key, claimId)
  return isOurs
}
