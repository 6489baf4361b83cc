import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { fail, idsIn, insert, THINGS } from '../../../test/fixtures.ts'
import { type Database, type Migration, migrate, planMigrations } from './index.ts'

const table = (name: string, more: Partial<Migration> = {}): Migration => ({
  name,
  up: async (schema) => {
    await schema.schema
      .createTable(`t${name.slice(0, 4)}`)
      .addColumn('a', 'text')
      .execute()
  },
  ...more,
})

async function tablesOf(db: Database): Promise<string[]> {
  const query =
    db.engine === 'sqlite'
      ? sql<{ name: string }>`select name from sqlite_master where type = 'table' order by 1`
      : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public' order by 1`
  return (await query.execute(db.read<unknown>() as never)).rows.map((row) => row.name)
}

eachEngine((engine) => {
  describe('migrating', () => {
    test('brings an empty store up to date, in list order', async () => {
      const db = await engine.openEmpty()
      const order: string[] = []
      const migrations = [THINGS, table('0002-two'), table('0003-three')].map((one) => ({
        ...one,
        up: async (...args: Parameters<Migration['up']>) => {
          order.push(one.name)
          await one.up(...args)
        },
      }))
      const report = await migrate(db, { migrations, program: '1.0.0' })
      expect(report).toEqual({ applied: ['0001-things', '0002-two', '0003-three'], total: 3 })
      expect(order).toEqual(report.applied)
      await db.transaction((tx) => insert(tx, 'usable'))
      expect(await idsIn(db)).toEqual(['usable'])
    })

    test('a second time does nothing', async () => {
      const db = await engine.openEmpty()
      await migrate(db, { migrations: [THINGS], program: '1.0.0' })
      await db.transaction((tx) => insert(tx, 'kept'))
      expect(await migrate(db, { migrations: [THINGS], program: '1.0.0' })).toEqual({ applied: [], total: 1 })
      expect(await idsIn(db)).toEqual(['kept'])
    })

    test('applies only what is missing', async () => {
      const db = await engine.openEmpty()
      await migrate(db, { migrations: [THINGS], program: '1.0.0' })
      const { applied } = await migrate(db, { migrations: [THINGS, table('0002-two')], program: '1.1.0' })
      expect(applied).toEqual(['0002-two'])
    })

    test('by ten processes at once is applied once', async () => {
      const store = await engine.emptyStore()
      const databases = await Promise.all(Array.from({ length: 10 }, () => store.open({ pool: 2 })))
      const reports = await Promise.all(
        databases.map((db) => migrate(db, { migrations: [THINGS, table('0002-two')], program: '1.0.0' })),
      )
      expect(reports.map((report) => report.applied.length).sort()).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 2])
    })

    test('that fails rolls back all migrations, and can be retried', async () => {
      const db = await engine.openEmpty()
      const failing = table('0002-two', { up: async () => fail('disk on fire') })
      await expect(migrate(db, { migrations: [THINGS, failing], program: '1.0.0' })).rejects.toThrow(
        'disk on fire',
      )
      expect(await tablesOf(db)).toEqual([])
      const { applied } = await migrate(db, { migrations: [THINGS, table('0002-two')], program: '1.0.0' })
      expect(applied).toHaveLength(2)
    })

    test('as a plan lists what would be applied, and changes nothing', async () => {
      const db = await engine.openEmpty()
      const plan = await planMigrations(db, { migrations: [THINGS], program: '1.0.0' })
      expect(plan).toEqual({ applied: ['0001-things'], total: 1 })
      expect(await tablesOf(db)).toEqual([])
    })
  })

  describe('a store that a newer program has migrated', () => {
    const newer = (oldestProgram?: string) => [
      THINGS,
      table('0002-newer', oldestProgram ? { oldestProgram } : {}),
    ]

    test('is refused by a program that is too old, with a remedy and without changes', async () => {
      const db = await engine.openEmpty()
      await migrate(db, { migrations: newer('2.0.0'), program: '2.0.0' })
      const before = await tablesOf(db)
      const old = migrate(db, { migrations: [THINGS, table('0003-own')], program: '1.9.9' })
      const refused =
        'This store needs Jeton 2.0.0 or newer; this is 1.9.9. Nothing was changed. Start the newer version.'
      await expect(old).rejects.toThrow(refused)
      await expect(planMigrations(db, { migrations: [THINGS], program: '1.9.9' })).rejects.toThrow(refused)
      expect(await tablesOf(db)).toEqual(before)
    })

    test('is accepted by an older program if the migration is additive or allows it', async () => {
      for (const oldest of [undefined, '1.2.0']) {
        const db = await engine.openEmpty()
        await migrate(db, { migrations: newer(oldest), program: '2.0.0' })
        expect(await migrate(db, { migrations: [THINGS], program: '1.2.0' })).toEqual({
          applied: [],
          total: 1,
        })
      }
    })

    test('compares versions as numbers: 1.10.0 is newer than 1.9.0', async () => {
      const db = await engine.openEmpty()
      await migrate(db, { migrations: newer('1.9.0'), program: '1.10.0' })
      await expect(migrate(db, { migrations: [THINGS], program: '1.10.0' })).resolves.toBeDefined()
      await expect(migrate(db, { migrations: [THINGS], program: '1.8.9' })).rejects.toThrow(
        'needs Jeton 1.9.0',
      )
    })

    test('stays refused if a later migration would allow more', async () => {
      const db = await engine.openEmpty()
      const migrations = [...newer('2.0.0'), table('0003-later', { oldestProgram: '1.0.0' })]
      await migrate(db, { migrations, program: '2.0.0' })
      await expect(migrate(db, { migrations, program: '1.0.0' })).rejects.toThrow('needs Jeton 2.0.0')
    })
  })
})
