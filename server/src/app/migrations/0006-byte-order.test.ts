import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { migrate } from '../../platform/database/index.ts'
import { MIGRATIONS } from './index.ts'

eachEngine((engine) => {
  test('tables of others stay unchanged, and all columns of ours are compared by bytes', async () => {
    const db = await engine.openEmpty()
    await db.transaction(async (tx) => {
      await sql`create table theirs (name text)`.execute(tx.write())
      await sql`create view their_names as select name from theirs`.execute(tx.write())
    })
    await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
    if (db.engine === 'sqlite') return
    const { rows } = await db.transaction((tx) =>
      sql`select distinct table_name from information_schema.columns
        where table_schema = current_schema() and data_type = 'text' and collation_name is null
        order by table_name`.execute(tx.write()),
    )
    expect(rows).toEqual([{ table_name: 'their_names' }, { table_name: 'theirs' }])
  })
})
