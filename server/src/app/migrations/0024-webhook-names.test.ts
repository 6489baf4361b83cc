import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { type Database, migrate, UniqueConflict } from '../../platform/database/index.ts'
import { backUp } from '../back-up.ts'
import { checkBackup, restore } from '../restore.ts'
import { MIGRATIONS } from './index.ts'

const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === '0024-webhook-names'),
)

const DEFAULTS = { project_id: 'p', kind: 'webhook', name: null, deleted_at: null }

const insert = (db: Database, row: Partial<Record<keyof typeof DEFAULTS, unknown>> & { id: string }) => {
  const { project_id, kind, name, deleted_at } = { ...DEFAULTS, ...row }
  return db.transaction((tx) =>
    sql`insert into destinations (project_id, id, kind, name, headers, target_url, events, active, secret,
        secret_last4, created_at, updated_at, deleted_at)
      values (${project_id}, ${row.id}, ${kind}, ${name}, '{}', 'https://hooks.example.com', '[]', 1, 's', 'last',
        1, 1, ${deleted_at})`.execute(tx.write<never>()),
  )
}

const namesIn = async (db: Database) =>
  (await sql`select id, name from destinations order by id`.execute(db.read<never>() as never)).rows

eachEngine((engine) => {
  test('names of webhooks are unique in a project, and neither distributions nor deleted webhooks take one', async () => {
    const db = await (await engine.emptyStore()).open()
    await migrate(db, { migrations: BEFORE, program: '99.0.0' })
    await insert(db, { id: 'wh_1' })
    await insert(db, { id: 'wh_2' })
    await insert(db, { id: 'distr_1', kind: 'distribution', name: 'crm' })
    await insert(db, { id: 'distr_2', kind: 'distribution', name: 'crm' })
    await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
    await insert(db, { id: 'wh_3', name: 'crm', deleted_at: 1 })
    await insert(db, { id: 'wh_4', name: 'crm' })
    await insert(db, { id: 'wh_5', name: 'crm', project_id: 'q' })
    await expect(insert(db, { id: 'wh_6', name: 'crm' })).rejects.toThrow(UniqueConflict)
  })

  test('a backup of a version without names is restored, and one with names keeps them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'jeton-names-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    for (const [version, name] of [[BEFORE, null] as const, [MIGRATIONS, 'crm'] as const]) {
      const store = await engine.emptyStore()
      const db = await store.open()
      await migrate(db, { migrations: version, program: '99.0.0' })
      await insert(db, { id: 'wh_1', name })
      await db.close()
      const file = join(folder, `${name}.backup`)
      await backUp(await store.open(), { file, now: 1 })
      const target = await (await engine.emptyStore()).open({ pool: 1 })
      await restore(target, { file, backup: await checkBackup(file), replace: false })
      expect(await namesIn(target)).toEqual([{ id: 'wh_1', name }])
    }
  })
})
