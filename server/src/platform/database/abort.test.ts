import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { idsIn, insert, prepareThings } from '../../../test/fixtures.ts'

eachEngine((engine) => {
  test('a transaction whose signal aborts runs no further statement, keeps nothing, and throws the reason', async () => {
    const db = await prepareThings(await engine.open())
    const [stop, reason] = [new AbortController(), new Error('stopped')]
    let refused: unknown
    const work = db.transaction(
      async (tx) => {
        await insert(tx, 'a')
        stop.abort(reason)
        await insert(tx, 'b').catch((error: unknown) => {
          refused = error
        })
      },
      { signal: stop.signal },
    )
    await expect(work).rejects.toBe(reason)
    expect(refused).toBe(reason)
    expect(await idsIn(db)).toEqual([])
    await db.transaction((tx) => insert(tx, 'c'))
    expect(await idsIn(db)).toEqual(['c'])
  })

  test('a signal that aborts after the last statement still prevents the commit', async () => {
    const db = await prepareThings(await engine.open())
    const [stop, reason] = [new AbortController(), new Error('stopped')]
    const work = db.transaction(
      async (tx) => {
        await insert(tx, 'a')
        stop.abort(reason)
      },
      { signal: stop.signal },
    )
    await expect(work).rejects.toBe(reason)
    expect(await idsIn(db)).toEqual([])
  })

  if (engine.name === 'SQLite') return

  test('a signal cancels the statement that runs, with all connections of the pool in use', async () => {
    const db = await prepareThings(await engine.open({ pool: 1 }))
    const [stop, reason] = [new AbortController(), new Error('stopped')]
    const began = performance.now()
    const work = db.transaction(
      async (tx) => {
        await insert(tx, 'a')
        await sql`set local statement_timeout = 0`.execute(tx.write<never>())
        const sleeping = sql`select pg_sleep(60)`.execute(tx.write<never>())
        stop.abort(reason)
        await sleeping
      },
      { signal: stop.signal, noTimeout: true },
    )
    await expect(work).rejects.toBe(reason)
    expect(performance.now() - began).toBeLessThan(20_000)
    expect(await idsIn(db)).toEqual([])
  })

  test('a signal cancels the statement of a snapshot', async () => {
    const db = await engine.open({ pool: 1 })
    const stop = new AbortController()
    const began = performance.now()
    const reading = db.snapshot(async (reader) => {
      const sleeping = sql`select pg_sleep(60)`.execute(reader.read<never>() as never)
      stop.abort()
      await sleeping
    }, stop.signal)
    await expect(reading).rejects.toThrow('canceling statement')
    expect(performance.now() - began).toBeLessThan(20_000)
  })
})
