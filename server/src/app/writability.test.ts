import { expect, test } from 'vitest'
import { eachEngine } from '../../test/engines.ts'
import { silentLog } from '../../test/service.ts'
import { TestClock } from '../../test/test-clock.ts'
import { type Database, migrate, StoreUnavailable } from '../platform/database/index.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { VERSION } from './version.ts'
import { Writability } from './writability.ts'

/** Counts the transactions of a database. */
function counted(db: Database): { db: Database; count: () => number } {
  let count = 0
  const transaction: Database['transaction'] = (...given) => {
    count++
    return db.transaction(...given)
  }
  return { db: { ...db, transaction }, count: () => count }
}

eachEngine((engine) => {
  test('checking writability 100 times writes once in 5 s, and leaves no row', async () => {
    const real = await engine.open()
    await migrate(real, { migrations: MIGRATIONS, program: VERSION })
    const { db, count } = counted(real)
    const clock = new TestClock()
    const writability = new Writability({ db, clock, log: silentLog() })
    const askOften = async () => {
      for (let i = 0; i < 10; i++)
        expect(await Promise.all(Array.from({ length: 10 }, () => writability.reason()))).toEqual(
          new Array(10).fill(undefined),
        )
    }
    await askOften()
    expect(count()).toBe(1)
    await clock.advance(4_999)
    await askOften()
    expect(count()).toBe(1)
    await clock.advance(1)
    await askOften()
    expect(count()).toBe(2)
    const rows = await real
      .read<{ jeton_store: { id: number } }>()
      .selectFrom('jeton_store')
      .select('id')
      .execute()
    expect(rows.filter(({ id }) => id < 0)).toEqual([])
  })

  test('a store that does not answer is covered by the age of the key state, and delays nobody', async () => {
    const real = await engine.open()
    const clock = new TestClock()
    let fail: (error: Error) => void = () => undefined
    const db = { ...real, transaction: () => new Promise<never>((_, reject) => (fail = reject)) }
    const writability = new Writability({ db, clock, log: silentLog() })
    const asked = writability.reason()
    await clock.advance(1_000)
    expect(await asked).toBeUndefined()
    fail(new StoreUnavailable('cut'))
    expect(await writability.reason()).toBeUndefined()
  })
})
