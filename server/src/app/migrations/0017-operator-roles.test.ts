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
  MIGRATIONS.findIndex(({ name }) => name === '0017-operator-roles'),
)

const insert = (db: Database, id: string) =>
  db.transaction((tx) =>
    sql`insert into operators (id, name, token_digest, token_last4, created_at)
      values (${id}, 'Ada', ${Buffer.from('digest')}, 'last', 1)`.execute(tx.write<never>()),
  )

async function operatorsIn(db: Database): Promise<unknown[]> {
  const all = sql`select id, role, projects from operators order by id desc`
  return (await all.execute(db.read<never>() as never)).rows
}

eachEngine((engine) => {
  test('a backup of a version without roles and sessions is restored, and its operators are admins', async () => {
    const store = await engine.emptyStore()
    const db = await store.open()
    const folder = mkdtempSync(join(tmpdir(), 'jeton-roles-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'old.backup')
    await migrate(db, { migrations: BEFORE, program: '99.0.0' })
    await insert(db, 'op_before')
    await db.close()
    await backUp(await store.open(), { file, now: 1 })
    const target = await (await engine.emptyStore()).open({ pool: 1 })
    await restore(target, { file, backup: await checkBackup(file), replace: false })
    expect(await operatorsIn(target)).toEqual([{ id: 'op_before', role: 'admin', projects: null }])
  })

  test('operators that exist become admins of all projects, and a row without a role is no admin', async () => {
    const db = await (await engine.emptyStore()).open()
    await migrate(db, { migrations: BEFORE, program: '99.0.0' })
    await insert(db, 'op_before')
    await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
    await insert(db, 'op_after')
    expect(await operatorsIn(db)).toEqual([
      { id: 'op_before', role: 'admin', projects: null },
      { id: 'op_after', role: 'viewer', projects: null },
    ])
  })
})
