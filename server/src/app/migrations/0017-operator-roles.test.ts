import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { migrate } from '../../platform/database/index.ts'
import { MIGRATIONS } from './index.ts'

const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === '0017-operator-roles'),
)

eachEngine((engine) => {
  test('operators that exist become admins of all projects, and a row without a role is no admin', async () => {
    const db = await (await engine.freshStore()).open()
    const insert = (id: string) =>
      db.transaction((tx) =>
        sql`insert into operators (id, name, token_digest, token_last4, created_at)
          values (${id}, 'Ada', ${Buffer.from('digest')}, 'last', 1)`.execute(tx.write<never>()),
      )
    await migrate(db, { migrations: BEFORE, program: '99.0.0' })
    await insert('op_before')
    await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
    await insert('op_after')
    const { rows } = await sql`select id, role, projects from operators order by id desc`.execute(
      db.read<never>() as never,
    )
    expect(rows).toEqual([
      { id: 'op_before', role: 'admin', projects: null },
      { id: 'op_after', role: 'viewer', projects: null },
    ])
  })
})
