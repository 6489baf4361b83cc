import type { ProgramContext } from '../../platform/database/index.ts'
import { LEASE_MS } from './exchange.ts'
import { DELIVERY, type FanOutMessage, PUBLICATION } from './fan-out-message.ts'

const placesFor = (columns: readonly string[]): string => columns.map(() => '?').join(', ')
const INSERT_DELIVERY = `insert into deliveries (project_id, event_id, created_at, status, attempts_made, slot, ${DELIVERY.join(', ')})
  values (?, ?, ?, 'pending', 0, 0, ${placesFor(DELIVERY)})`
const INSERT_PUBLICATION = `insert into publications (project_id, event_id, ${PUBLICATION.join(', ')})
  values (?, ?, ${placesFor(PUBLICATION)})`

/** A lease that lies further ahead than any can was given before the clock was set back: it is over. */
const IS_FREE = 'created_at = ? and project_id = ? and event_id = ? and (free_at <= ? or free_at > ?)'

/** Runs inside the SQLite thread, in a transaction of its own. Which events another process had taken before. */
export function run({ prepare }: ProgramContext, { now, claimId, held, events }: FanOutMessage): string[] {
  const release = prepare(`delete from waiting_events where ${IS_FREE}`)
  const hold = prepare(`update waiting_events set claim_id = ?, free_at = ? where ${IS_FREE}`)
  const insertDelivery = prepare(INSERT_DELIVERY)
  const insertPublication = prepare(INSERT_PUBLICATION)
  const ends = now + LEASE_MS
  const impossible = ends + LEASE_MS
  const taken: string[] = []
  for (const key of held)
    if (hold.run(claimId, ends, ...key, now, impossible).changes === 0) taken.push(key[2])
  for (const { key, deliveries, publications } of events) {
    const [, project_id, id] = key
    if (release.run(...key, now, impossible).changes === 0) taken.push(id)
    else {
      for (const values of deliveries) insertDelivery.run(project_id, id, now, ...values)
      for (const values of publications) insertPublication.run(project_id, id, ...values)
    }
  }
  return taken
}
