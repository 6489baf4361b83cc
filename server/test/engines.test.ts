import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { MIGRATIONS } from '../src/app/migrations/index.ts'
import { VERSION } from '../src/app/version.ts'
import { planMigrations } from '../src/platform/database/index.ts'
import { eachEngine } from './engines.ts'
import { everythingIn } from './timed-service.ts'

eachEngine((engine) => {
  const tablesOf = async (db: Awaited<ReturnType<typeof engine.openEmpty>>) => {
    const from =
      db.engine === 'sqlite'
        ? sql`select name from sqlite_master`
        : sql`select 1 from pg_tables where schemaname = 'public'`
    return (await from.execute(db.read<unknown>() as never)).rows.length
  }

  test('an empty store has no tables and shares nothing with the next store', async () => {
    const [one, other] = [await engine.openEmpty(), await engine.openEmpty()]
    await one.transaction(async (tx) => void (await sql`create table t (a text)`.execute(tx.write())))
    expect([await tablesOf(one), await tablesOf(other)]).toEqual([1, 0])
  })

  test('two databases opened on one store see the same rows', async () => {
    const store = await engine.emptyStore()
    const [one, other] = [await store.open(), await store.open()]
    await one.transaction(async (tx) => void (await sql`create table t (a text)`.execute(tx.write())))
    expect(await tablesOf(other)).toBe(1)
  })

  test('a fresh store is migrated, has no rows and shares nothing with the next store', async () => {
    const [one, other] = [await engine.open(), await engine.open()]
    for (const db of [one, other]) {
      expect((await planMigrations(db, { migrations: MIGRATIONS, program: VERSION })).applied).toEqual([])
      const { jeton_migrations, ...rest } = await everythingIn(db)
      expect(jeton_migrations).toHaveLength(MIGRATIONS.length)
      expect(Object.values(rest).flat()).toEqual(rest.jeton_store ?? [])
    }
    await one.transaction(async (tx) => void (await sql`create table t (a text)`.execute(tx.write())))
    expect((await tablesOf(one)) - (await tablesOf(other))).toBe(1)
  })
})
