import { Ajv } from 'ajv'
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { Problem } from '../../contract/problem.ts'
import { CursorQuery, isoTime, isoTimeOrNull, listAnswer, pageOf } from './pagination.ts'

interface Row {
  readonly id: string
  readonly at: number
}
const shape = { item: (row: Row) => row.id, position: (row: Row) => row }
const rows = (count: number, from = 0): Row[] =>
  Array.from({ length: count }, (_, i) => ({ id: `aud_${from + i}`, at: 1_000 - from - i }))
const cursorOf = (row: Row) =>
  listAnswer({ rows: [row, row], total: 2 }, { limit: 1, offset: 0 }, shape).next_cursor!

describe('a page', () => {
  test('a page has ten entries from the first by default', () => {
    expect(pageOf({})).toMatchObject({ limit: 10, offset: 0 })
    expect(pageOf({ limit: 25, page: 3 })).toMatchObject({ limit: 25, offset: 50 })
  })

  test('a page with a cursor begins after the entry of the cursor, and the page number is ignored', () => {
    const cursor = cursorOf({ id: 'aud_Ab-_9', at: 1_700_000_000_123 })
    expect(pageOf({ cursor, page: 7 })).toMatchObject({
      offset: 0,
      before: { at: 1_700_000_000_123, id: 'aud_Ab-_9' },
    })
  })

  test.each(['', 'x', 'MTIz', '1.a b', '-1.a', "1.a'--", `1.${'a'.repeat(81)}`])(
    'a cursor that no list returned (%j) is refused',
    (cursor) => expect(() => pageOf({ cursor })).toThrow(Problem),
  )

  test('a page is limited to a range of times, in any offset', () => {
    expect(pageOf({ from: '2026-01-01', to: '2026-01-02T01:30:00+01:30' })).toMatchObject({
      from: Date.UTC(2026, 0, 1),
      to: Date.UTC(2026, 0, 2),
    })
    expect(() => pageOf({ from: '2026-13-01' })).toThrow('from must be a time')
  })
})

describe('a list', () => {
  const page = { limit: 3, offset: 0 }

  test('a list has its documented fields and a cursor if there are more entries', () => {
    const answer = listAnswer({ rows: rows(4), total: 9 }, page, shape)
    expect(answer).toEqual({
      object: 'list',
      data_ref: 'data',
      data: ['aud_0', 'aud_1', 'aud_2'],
      total: 9,
      next_cursor: expect.any(String),
    })
    expect(pageOf({ cursor: answer.next_cursor! }).before).toEqual({ at: 998, id: 'aud_2' })
  })

  test.each([0, 1, 3])('the last page, with %d entries, has no cursor', (count) => {
    expect(listAnswer({ rows: rows(count), total: count }, page, shape)).toMatchObject({
      total: count,
      next_cursor: null,
    })
  })
})

describe('the query of a list', () => {
  const valid = new Ajv({ strict: false, coerceTypes: true }).compile(Type.Object(CursorQuery))

  test('a list accepts limits from 1 to 100 and pages from 1', () => {
    for (const query of [{ limit: '1' }, { limit: '100' }, { page: '1' }, {}])
      expect(valid({ ...query })).toBe(true)
    for (const query of [{ limit: '0' }, { limit: '101' }, { limit: '1.5' }, { page: '0' }, { limit: 'x' }])
      expect(valid({ ...query })).toBe(false)
  })

  test('a list accepts times with an offset', () => {
    for (const from of ['2026-01-01', '2026-01-01T10:00Z', '2026-01-01T10:00:00.123+02:00'])
      expect(valid({ from })).toBe(true)
    for (const from of ['yesterday', '2026-01-01T10:00', '1767225600', '2026-1-1'])
      expect(valid({ from })).toBe(false)
  })
})

test('times are ISO 8601 in UTC with milliseconds', () => {
  expect([isoTime(0), isoTimeOrNull(1_700_000_000_123), isoTimeOrNull(null)]).toEqual([
    '1970-01-01T00:00:00.000Z',
    '2023-11-14T22:13:20.123Z',
    null,
  ])
})
