import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { makePayload } from '../../features/deliveries/index.ts'
import { migrate, type Transaction } from '../../platform/database/index.ts'
import { MIGRATIONS } from './index.ts'

const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === '0016-outbox'),
)
const ATTEMPT = { number: 1, at: 7_000, duration_ms: 3, status: 204, response_body: 'ok "é"', error: null }
const DESTINATION = { id: 'wh_1', kind: 'webhook', target_url: 'https://hooks.example/a?b="c"' } as const
const EVENT = {
  ...{ project_id: 'p', id: 'ev_1', kind: 'webhook.test', version: '1', entity_id: 'cust_"1"', data: '{}' },
  ...{ campaign_id: null, group_id: null, channel: 'API', key_name: null, key_app_id: null },
  ...{ occurred_at: 5_000, created_at: 6_000 },
}

interface Delivery {
  readonly id: string
  readonly head: string
  readonly tail: string
  readonly first_attempt: string | null
}

const whole = (deliveryId: string, event_name: string | null) =>
  makePayload({ deliveryId, event: EVENT as never, destination: { ...DESTINATION, event_name } })

async function insert(tx: Transaction, table: string, row: object): Promise<void> {
  const columns = sql.join(Object.keys(row).map((name) => sql.ref(name)))
  await sql`insert into ${sql.table(table)} (${columns}) values (${sql.join(Object.values(row))})`.execute(
    tx.write<never>(),
  )
}

const insertDelivery = (tx: Transaction, row: Delivery): Promise<void> =>
  insert(tx, 'deliveries', {
    ...{ project_id: 'p', event_id: EVENT.id, destination_id: DESTINATION.id, status: 'delivered' },
    ...{ attempts_made: 1, slot: 0, created_at: 6_000, ...row },
  })

eachEngine((engine) => {
  test('deliveries of earlier builds keep their bytes and attempts, and events stay in the outbox', async () => {
    const db = await (await engine.emptyStore()).open()
    await migrate(db, { migrations: BEFORE, program: '99.0.0' })
    const { kind: object, id, target_url } = DESTINATION
    const source = JSON.stringify({ id, object, target_url })
    await db.transaction(async (tx) => {
      await insert(tx, 'events', EVENT)
      await insert(tx, 'waiting_events', {
        created_at: 6_000,
        project_id: 'p',
        event_id: 'ev_1',
        free_at: 6_000,
      })
      const first_attempt = JSON.stringify(ATTEMPT)
      await insertDelivery(tx, { id: 'short', head: 'null', tail: source, first_attempt })
      await insertDelivery(tx, { id: 'named', head: '"Own \\"name\\""', tail: source, first_attempt: null })
      await insertDelivery(tx, { id: 'whole', ...whole('whole', null), first_attempt: null })
    })
    await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
    const all = async (table: string) =>
      (
        await sql<Delivery>`select * from ${sql.table(table)} order by 1, 2`.execute(
          db.read<never>() as never,
        )
      ).rows
    expect(await all('outbox')).toEqual([{ created_at: 6_000, project_id: 'p', event_id: 'ev_1' }])
    expect(await all('attempts')).toEqual([{ project_id: 'p', delivery_id: 'short', ...ATTEMPT }])
    const payloads = (await all('deliveries')).map(({ id, head, tail }) => ({ id, head, tail }))
    expect(payloads).toEqual([
      { id: 'named', ...whole('named', 'Own "name"') },
      { id: 'short', ...whole('short', null) },
      { id: 'whole', ...whole('whole', null) },
    ])
  })
})
