import { expect, test } from 'vitest'
import { eachEngine } from '../../test/engines.ts'
import { prepareThings, THINGS } from '../../test/fixtures.ts'
import { insertRows, type Row, readTable, tablesOf } from './backup-tables.store.ts'

eachEngine((engine) => {
  test('reading a table page by page returns every row once, for any values', async () => {
    const [things] = await tablesOf([THINGS])
    expect(things).toEqual({
      name: 'things',
      columns: [
        { name: 'id', type: 'text' },
        { name: 'n', type: 'bigint' },
        { name: 'bytes', type: 'bytes' },
      ],
      key: ['id'],
    })
    const db = await prepareThings(await engine.open())
    const rows = ['a', 'A', 'ä', 'b', '', '_', '10', '9', "it's", '😀'].map(
      (id, i) =>
        [id, i === 3 ? Number.MAX_SAFE_INTEGER : i, i % 2 ? null : Buffer.from([i, 0, 255])] as const,
    )
    await db.transaction((tx) => insertRows(tx, things!, rows))
    for (const pageRows of [1, 3, 10, 100]) {
      const found: Row[][] = []
      for await (const page of readTable(db, things!, pageRows)) found.push(page)
      expect(found.every((page) => page.length <= pageRows)).toBe(true)
      const byId = new Map(found.flat().map((row) => [row[0], row]))
      expect(found.flat()).toHaveLength(rows.length)
      for (const [id, n, bytes] of rows) {
        const row = byId.get(id)!
        expect([row[1], row[2] === null ? null : [...(row[2] as Uint8Array)]]).toEqual([
          n,
          bytes && [...bytes],
        ])
      }
    }
  })
})
