import { CompiledQuery, sql } from 'kysely'
import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { type Database, type KeysetRange, onPage, withinTimes } from './index.ts'

interface Tables {
  notes: { id: string; at: number }
}

const ORDER = ['at', 'id'] as const
const NOTES = 60

eachEngine((engine) => {
  /** Three notes per time, so that a page may end between two of the same time. */
  async function openNotes(): Promise<Database> {
    const db = await engine.open()
    await db.transaction(async (tx) => {
      const { schema } = tx.write<Tables>()
      const table = schema.createTable('notes').addColumn('id', 'text').addColumn('at', 'bigint')
      await table.execute()
      await schema.createIndex('notes_newest').on('notes').columns(['at', 'id']).execute()
      const rows = Array.from({ length: NOTES }, (_, i) => ({ id: `n${i}`, at: Math.floor(i / 3) }))
      await tx.write<Tables>().insertInto('notes').values(rows).execute()
    })
    return db
  }
  const pageOf = (db: Database, range: KeysetRange, most: number) =>
    db
      .read<Tables>()
      .selectFrom('notes')
      .selectAll()
      .where(onPage(range, ORDER))
      .orderBy('at', 'desc')
      .orderBy('id', 'desc')
      .limit(most)

  test.each([
    { span: {}, times: [0, 19] },
    { span: { from: 5 }, times: [5, 19] },
    { span: { to: 15 }, times: [0, 14] },
    { span: { from: 5, to: 15 }, times: [5, 14] },
  ])('pages by cursor show everything of $span once, and nothing else', async ({ span, times }) => {
    const db = await openNotes()
    const seen: string[] = []
    let before: KeysetRange['before']
    for (;;) {
      const rows = await pageOf(db, { ...span, before }, 4).execute()
      if (rows.length === 0) break
      for (const { at } of rows)
        expect(at).toSatisfy((time: number) => time >= times[0]! && time <= times[1]!)
      seen.push(...rows.map(({ id }) => id))
      before = rows.at(-1)!
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.length).toBe((times[1]! - times[0]! + 1) * 3)
    const counted = await db
      .read<Tables>()
      .selectFrom('notes')
      .select('id')
      .where(withinTimes(span, 'at'))
      .execute()
    expect(counted.length).toBe(seen.length)
  })

  test('a cursor after the later time does not extend the range', async () => {
    const db = await openNotes()
    const [first] = await pageOf(db, { to: 3, before: { at: 15, id: 'n45' } }, 1).execute()
    expect(first).toEqual({ id: 'n8', at: 2 })
  })

  test('any page is found by one index seek', async () => {
    const db = await openNotes()
    const page = pageOf(db, { before: { at: 7, id: 'n21' } }, 4).compile()
    const plan = await db.transaction(async (tx) => {
      // With so few rows PostgreSQL would prefer to read them all.
      if (db.engine === 'postgres') await sql`set local enable_seqscan = off`.execute(tx.write())
      const explain = db.engine === 'postgres' ? 'explain' : 'explain query plan'
      const query = CompiledQuery.raw(`${explain} ${page.sql}`, [...page.parameters])
      return JSON.stringify((await tx.write().executeQuery(query)).rows)
    })
    expect(plan).toContain(db.engine === 'sqlite' ? '(at,id)<(?,?)' : 'Index Cond: (ROW(at, id) < ROW(')
    expect(plan).not.toMatch(/SCAN|Filter/)
  })
})
