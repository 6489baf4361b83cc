import { type Kysely, sql } from 'kysely'
import { makePayload } from '../../features/deliveries/index.ts'
import type { EventHead } from '../../features/events/index.ts'
import type { Migration } from '../../platform/database/index.ts'

/**
 * Renames the outbox and gives deliveries one form: attempts are rows of their own, and payloads are stored completely.
 * Earlier versions stored the first attempt in its delivery, and sometimes only the parts of a payload.
 */
export const outbox: Migration = {
  name: '0016-outbox',
  async up(db, types) {
    await db.schema.alterTable('waiting_events').renameTo('outbox').execute()
    for (const column of ['claim_id', 'free_at'])
      await db.schema.alterTable('outbox').dropColumn(column).execute()
    await moveFirstAttempts(db, types.bytes === 'blob')
    await db.schema.alterTable('deliveries').dropColumn('first_attempt').execute()
    await completePayloads(db)
  },
}

async function moveFirstAttempts(db: Kysely<unknown>, isSqlite: boolean): Promise<void> {
  const field = (name: string, type: string) =>
    isSqlite
      ? sql`json_extract(first_attempt, ${sql.lit(`$.${name}`)})`
      : sql`(first_attempt::json ->> ${sql.lit(name)})::${sql.raw(type)}`
  await sql`
    insert into attempts (project_id, delivery_id, number, at, duration_ms, status, response_body, error)
    select project_id, id, ${field('number', 'bigint')}, ${field('at', 'bigint')}, ${field('duration_ms', 'bigint')},
      ${field('status', 'bigint')}, ${field('response_body', 'text')}, ${field('error', 'text')}
    from deliveries where first_attempt is not null`.execute(db)
}

type ShortDelivery = EventHead & {
  readonly delivery_id: string
  readonly head: string
  readonly tail: string
}

const ROWS_PER_BATCH = 500

/** A short `head` is the name of the event as JSON, or null. A short `tail` is the source; a complete one closes a brace. */
async function completePayloads(db: Kysely<unknown>): Promise<void> {
  const short = sql<ShortDelivery>`
    select e.*, d.id as delivery_id, d.head, d.tail from deliveries d
    join events e on e.project_id = d.project_id and e.id = d.event_id
    where d.tail like '{%' limit ${sql.lit(ROWS_PER_BATCH)}`
  for (;;) {
    const { rows } = await short.execute(db)
    for (const { delivery_id: deliveryId, head: name, tail: source, ...event } of rows) {
      const { object: kind, ...target } = JSON.parse(source)
      const destination = { ...target, kind, event_name: JSON.parse(name) }
      const { head, tail } = makePayload({ deliveryId, event, destination })
      await sql`update deliveries set head = ${head}, tail = ${tail}
        where project_id = ${event.project_id} and id = ${deliveryId}`.execute(db)
    }
    if (rows.length < ROWS_PER_BATCH) return
  }
}
