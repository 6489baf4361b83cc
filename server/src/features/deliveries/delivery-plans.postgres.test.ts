import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { explainedPostgres } from '../../../test/explained-postgres.ts'
import { MIGRATIONS } from '../../app/migrations/index.ts'
import { migrate, type PostgresDatabase } from '../../platform/database/index.ts'
import { pageOf } from '../../platform/http/index.ts'
import { listCustomersByCursor } from '../customers/index.ts'
import { type DeliveryFilter, listDeliveries } from './list-deliveries.ts'
import { listUndelivered } from './list-undelivered.ts'

/** Most are delivered; of one in fifty the last attempt failed. */
const FILL = `
  insert into destinations (project_id, id, kind, headers, target_url, events, active, secret, secret_last4,
    created_at, updated_at)
  select p, 'd' || i, 'webhook', '{}', '', '[]', 1, '', '', 1, 1
  from generate_series(0, 9) i, (values ('p'), ('q')) as projects(p);
  insert into deliveries (project_id, id, event_id, destination_id, status, head, tail, attempts_made, slot,
    created_at, last_status, last_error)
  select p, 'whs_' || i, 'evcus_' || i, 'd' || i % 10, case when i % 50 = 0 then 'pending' else 'delivered' end,
    repeat('x', 200), '}', 1, 0, i, case when i % 50 = 0 then 503 - i % 4 end,
    case when i % 50 = 0 then 'answered ' || 503 - i % 4 end
  from generate_series(1, 20000) i, (values ('p'), ('q')) as projects(p);
  insert into customers (project_id, id, email, metadata, created_at)
  select 'p', 'cust_' || i, i || '@example.com', '{}', i from generate_series(1, 20000) i`

const PAGES = [{}, { cursor: '10000.whs_1' }, { from: '1970-01-01T00:00:05Z', to: '1970-01-01T00:00:15Z' }]

const FILTERS: readonly (readonly [Omit<DeliveryFilter, 'projectId'>, string])[] = [
  [{}, 'deliveries_newest'],
  [{ statuses: ['pending', 'exhausted'] }, 'deliveries_'],
  [{ state: 'failing' }, 'deliveries_failing'],
  [{ httpStatus: 503 }, 'deliveries_by_answer'],
  [{ httpStatus: 503, destination: 'd0', error: 'answered' }, 'deliveries_by_answer'],
  [{ error: 'refused' }, 'deliveries_by_error'],
]

eachEngine((engine) => {
  test.skipIf(engine.name !== 'PostgreSQL')(
    'no list of deliveries, undelivered events or customers scans a table, before and after it is analyzed',
    async () => {
      const db = (await engine.open()) as PostgresDatabase
      await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
      await db.withConnection(({ query }) => query(FILL))
      const { reader, scansOf } = explainedPostgres(db)
      for (const analyzed of [false, true]) {
        if (analyzed) await db.withConnection(({ query }) => query('vacuum analyze'))
        for (const page of PAGES) {
          for (const [filter, index] of FILTERS) {
            const scans = await scansOf(() =>
              listDeliveries(reader, { projectId: 'p', ...filter }, pageOf(page)),
            )
            const said = JSON.stringify([analyzed, filter, page, scans])
            expect(
              scans.filter((step) => /Seq Scan on deliveries/.test(step)),
              said,
            ).toEqual([])
            if (analyzed) expect(scans.join(), said).toContain(index)
          }
          const undelivered = await scansOf(() => listUndelivered(reader, 'p', pageOf(page)))
          expect(undelivered.filter((step) => /Seq Scan on deliveries/.test(step))).toEqual([])
          const byEmail = { projectId: 'p', email: '7@example.com' }
          const customers = await scansOf(() => listCustomersByCursor(reader, byEmail, pageOf(page)))
          if (analyzed) expect(customers.join()).toContain('customers_of_email')
        }
      }
    },
    120_000,
  )
})
