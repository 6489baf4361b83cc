import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { migrate, type Transaction } from '../../platform/database/index.ts'
import { MIGRATIONS } from './index.ts'

const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === '0020-failed-deliveries'),
)

async function insert(tx: Transaction, table: string, row: object): Promise<void> {
  const columns = sql.join(Object.keys(row).map((name) => sql.ref(name)))
  await sql`insert into ${sql.table(table)} (${columns}) values (${sql.join(Object.values(row))})`.execute(
    tx.write<never>(),
  )
}

const insertDelivery = (tx: Transaction, row: { id: string; status: string; attempts_made: number }) =>
  insert(tx, 'deliveries', {
    ...{ project_id: 'p', event_id: 'e', destination_id: 'd', head: '', tail: '', slot: 0, created_at: 1 },
    ...row,
  })

const insertAttempt = (tx: Transaction, row: { delivery_id: string; number: number }, error: string | null) =>
  insert(tx, 'attempts', {
    ...{ project_id: 'p', at: 1, duration_ms: 1, status: error === null ? 200 : 503, error },
    ...row,
  })

eachEngine((engine) => {
  test('deliveries that failed before the upgrade are found by the error of their last attempt', async () => {
    const db = await (await engine.emptyStore()).open()
    await migrate(db, { migrations: BEFORE, program: '99.0.0' })
    await db.transaction(async (tx) => {
      await insertDelivery(tx, { id: 'failing', status: 'pending', attempts_made: 2 })
      await insertAttempt(tx, { delivery_id: 'failing', number: 1 }, 'the first')
      await insertAttempt(tx, { delivery_id: 'failing', number: 2 }, 'x'.repeat(600))
      await insertDelivery(tx, { id: 'exhausted', status: 'exhausted', attempts_made: 1 })
      await insertAttempt(tx, { delivery_id: 'exhausted', number: 1 }, 'refused')
      await insertDelivery(tx, { id: 'delivered', status: 'delivered', attempts_made: 1 })
      await insertAttempt(tx, { delivery_id: 'delivered', number: 1 }, null)
      await insertDelivery(tx, { id: 'replayed', status: 'pending', attempts_made: 1 })
      await insertAttempt(tx, { delivery_id: 'replayed', number: 1 }, null)
      await insertDelivery(tx, { id: 'untried', status: 'pending', attempts_made: 0 })
    })
    await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
    const { rows } = await sql`select id, last_status, last_error from deliveries order by id`.execute(
      db.read<never>() as never,
    )
    expect(rows).toEqual([
      { id: 'delivered', last_status: null, last_error: null },
      { id: 'exhausted', last_status: 503, last_error: 'refused' },
      { id: 'failing', last_status: 503, last_error: 'x'.repeat(500) },
      { id: 'replayed', last_status: null, last_error: null },
      { id: 'untried', last_status: null, last_error: null },
    ])
  })
})
