import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { type Database, migrate } from '../../platform/database/index.ts'
import { backUp } from '../back-up.ts'
import { checkBackup, restore } from '../restore.ts'
import { MIGRATIONS } from './index.ts'

const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === '0027-traces'),
)
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

/** As a version without the column does it. */
const insertAsBefore = (db: Database, id: string) =>
  db.transaction((tx) =>
    sql`insert into events (project_id, id, kind, version, entity_id, channel, data, occurred_at, created_at)
      values ('p', ${id}, 'webhook.test', '2024-01-01', 'e', 'API', '{}', 1, 1)`.execute(tx.write<never>()),
  )

const insertWithTrace = (db: Database, id: string) =>
  db.transaction((tx) =>
    sql`insert into events (project_id, id, kind, version, entity_id, channel, traceparent, data, occurred_at, created_at)
      values ('p', ${id}, 'webhook.test', '2024-01-01', 'e', 'API', ${TRACEPARENT}, '{}', 1, 1)`.execute(
      tx.write<never>(),
    ),
  )

const tracesIn = async (db: Database) =>
  (await sql`select id, traceparent from events order by id`.execute(db.read<never>() as never)).rows

eachEngine((engine) => {
  test('old events have no trace, and a process of an older version still writes events', async () => {
    const db = await (await engine.emptyStore()).open()
    await migrate(db, { migrations: BEFORE, program: '99.0.0' })
    await insertAsBefore(db, 'ev_1')
    await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
    await insertAsBefore(db, 'ev_2')
    await insertWithTrace(db, 'ev_3')
    expect(await tracesIn(db)).toEqual([
      { id: 'ev_1', traceparent: null },
      { id: 'ev_2', traceparent: null },
      { id: 'ev_3', traceparent: TRACEPARENT },
    ])
    // The versions before it may go on using the store.
    expect(MIGRATIONS.find(({ name }) => name === '0027-traces')).not.toHaveProperty('oldestProgram')
  })

  test('a backup of a version without traces is restored, and one with traces keeps them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'jeton-traces-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const cases = [
      { migrations: BEFORE, insert: insertAsBefore, traceparent: null },
      { migrations: MIGRATIONS, insert: insertWithTrace, traceparent: TRACEPARENT },
    ]
    for (const { migrations, insert, traceparent } of cases) {
      const store = await engine.emptyStore()
      const db = await store.open()
      await migrate(db, { migrations, program: '99.0.0' })
      await insert(db, 'ev_1')
      await db.close()
      const file = join(folder, `${traceparent}.backup`)
      await backUp(await store.open(), { file, now: 1 })
      const target = await (await engine.emptyStore()).open({ pool: 1 })
      await restore(target, { file, backup: await checkBackup(file), replace: false })
      expect(await tracesIn(target)).toEqual([{ id: 'ev_1', traceparent }])
    }
  })
})
