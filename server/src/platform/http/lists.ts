import { type Static, type TSchema, Type } from 'typebox'
import { Problem } from '../../contract/problem.ts'
import { DAY_OR_TIME } from './times.ts'

export const DEFAULT_LIMIT = 10

/** `limit` and `page` for lists whose length has a bound in practice. */
export const PageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: `Entries a page, ${DEFAULT_LIMIT} if not said.` }),
  ),
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: 'Page, from 1.' })),
}

/** A point in time. The command line takes `6h` for it as well: `x-moment` tells it where. */
export const moment = (description: string) =>
  Type.String({
    ...DAY_OR_TIME,
    'x-moment': true,
    description,
  })

/** Time and id of the last entry of a page. */
const CURSOR = /^(\d{1,15})\.([\w-]{1,80})$/

/** For what grows without bound: a cursor stays right while entries are added, and costs the same on every page. */
export const CursorQuery = {
  ...PageQuery,
  cursor: Type.Optional(
    Type.String({
      pattern: CURSOR.source,
      'x-says': 'is not one that a list gave out: send next_cursor of the page before, unchanged',
      description: '`next_cursor` of the page before.',
    }),
  ),
  from: Type.Optional(moment('Earliest time, included.')),
  to: Type.Optional(moment('Latest time, not included.')),
}

export const listOf = <Item extends TSchema>(item: Item) =>
  Type.Object({
    object: Type.Literal('list'),
    data_ref: Type.Literal('data'),
    data: Type.Array(item),
    total: Type.Integer(),
    next_cursor: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  })

/** What a store needs to know to cut a page out of a list that is newest first. */
export interface Page {
  readonly limit: number
  readonly offset: number
  readonly before?: { readonly at: number; readonly id: string } | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
}

type Query = Static<ReturnType<typeof cursorSchema>>
const cursorSchema = () => Type.Object(CursorQuery)

/** Epoch milliseconds of a `moment`. */
export function timeOf(text: string, name: string): number {
  const at = Date.parse(text)
  if (Number.isNaN(at))
    throw new Problem('invalid_payload', { message: `${name} must be a time such as 2026-11-15T14:00:00Z.` })
  return at
}

export function pageOf(query: Query): Page {
  const limit = query.limit ?? DEFAULT_LIMIT
  const before = query.cursor === undefined ? undefined : decodeCursor(query.cursor)
  const offset = before ? 0 : ((query.page ?? 1) - 1) * limit
  const from = query.from === undefined ? undefined : timeOf(query.from, 'from')
  const to = query.to === undefined ? undefined : timeOf(query.to, 'to')
  return { limit, offset, before, from, to }
}

/** Rows of one page: `rows` may hold one more than `limit`, which tells that there is a next page. */
export interface Rows<Row> {
  readonly rows: readonly Row[]
  readonly total: number
}

interface Positioned {
  readonly at: number
  readonly id: string
}

export function listAnswer<Row, Item>(
  { rows, total }: Rows<Row>,
  page: Page,
  shape: {
    item: (row: Row) => Item /** Only where the list takes a cursor. */
    position?: (row: Row) => Positioned
  },
) {
  const data = rows.slice(0, page.limit)
  const last = rows.length > page.limit ? data.at(-1) : undefined
  return {
    object: 'list' as const,
    data_ref: 'data' as const,
    data: data.map(shape.item),
    total,
    next_cursor: last === undefined || !shape.position ? null : encodeCursor(shape.position(last)),
  }
}

const encodeCursor = ({ at, id }: Positioned): string => `${at}.${id}`

function decodeCursor(text: string): Positioned {
  const [, at, id] = CURSOR.exec(text) ?? []
  if (at === undefined || id === undefined)
    throw new Problem('invalid_payload', {
      message: 'cursor is not one that a list gave out.',
      details: 'Use next_cursor of the page before, unchanged.',
    })
  return { at: Number(at), id }
}

/** The last second that was asked for, and its text up to the milliseconds: many times lie in the same one. */
let [lastSecond, secondText] = [Number.NaN, '']

export function isoTime(time: number): string {
  const ms = Math.trunc(time)
  const second = Math.floor(ms / 1000)
  if (second !== lastSecond) {
    secondText = new Date(second * 1000).toISOString().slice(0, -'000Z'.length)
    lastSecond = second
  }
  return `${secondText}${String(ms - second * 1000).padStart(3, '0')}Z`
}
export const isoTimeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))
