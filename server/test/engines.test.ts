import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { eachEngine } from './engines.ts'

eachEngine((engine) => {
  const tablesOf = async (db: Awaited<ReturnType<typeof engine.open>>) => {
    const from =
      db.engine === 'sqlite'
        ? sql`select name from sqlite_master`
        : sql`select 1 from pg_tables where schemaname = 'public'`
    return (await from.execute(db.read<unknown>() as never)).rows.length
  }

  test('a fresh store is empty and shares nothing with the next one', async () => {
    const [one, other] = [await engine.open(), await engine.open()]
    await one.transaction(async (tx) => void (await sql`create table t (a text)`.execute(tx.write())))
    expect([await tablesOf(one), await tablesOf(other)]).toEqual([1, 0])
  })

  test('two databases opened on one store see the same rows', async () => {
    const store = await engine.freshStore()
    const [one, other] = [await store.open(), await store.open()]
    await one.transaction(async (tx) => void (await sql`create table t (a text)`.execute(tx.write())))
    expect(await tablesOf(other)).toBe(1)
  })
})
