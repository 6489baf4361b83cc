import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { MIGRATIONS } from '../../app/migrations/index.ts'
import { migrate } from '../../platform/database/index.ts'
import { raiseKeyStateVersion, readKeyStateVersion } from './api-key.store.ts'

eachEngine((engine) => {
  test('a key-state version cannot be read before its commit, and versions are given in the order of commits', async () => {
    const db = await engine.open()
    await migrate(db, { migrations: MIGRATIONS, program: '0.1.0' })
    const raised = Promise.withResolvers<void>()
    const mayCommit = Promise.withResolvers<void>()
    const order: string[] = []
    const first = db.transaction(async (tx) => {
      const version = await raiseKeyStateVersion(tx)
      raised.resolve()
      await mayCommit.promise
      order.push('first')
      return version
    })
    await raised.promise
    const second = db.transaction(async (tx) => {
      const version = await raiseKeyStateVersion(tx)
      order.push('second')
      return version
    })
    expect(await readKeyStateVersion(db)).toBe(0)
    mayCommit.resolve()
    expect(await Promise.all([first, second])).toEqual([1, 2])
    expect(order).toEqual(['first', 'second'])
    expect(await readKeyStateVersion(db)).toBe(2)
    const lost = db.transaction(async (tx) => {
      await raiseKeyStateVersion(tx)
      throw new Error('given up')
    })
    await expect(lost).rejects.toThrow('given up')
    expect(await readKeyStateVersion(db)).toBe(2)
  })
})
