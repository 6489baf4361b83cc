import { type Static, type TSchema, Type } from 'typebox'
import { DAY_OR_TIME } from '../../contract/times.ts'
import { invalidPayload } from './errors.ts'
import { timeOf } from './schema-fields.ts'

const DEFAULT_LIMIT = 10

/** `limit` and `page`, for lists that stay short in practice. */
export const PageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: `Entries per page. Default: ${DEFAULT_LIMIT}.` }),
  ),
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: 'Page, from 1.' })),
}

/** A point in time. `x-moment` lets the command line accept durations such as `6h`. */
export const moment = (description: string) => Type.String({ ...DAY_OR_TIME, 'x-moment': true, description })

const CURSOR = /^(\d{1,15})\.([\w-]{1,80})$/

/** For lists that grow without limit: a cursor stays valid while entries are added, and every page costs the same. */
export const CursorQuery = {
  ...PageQuery,
  cursor: Type.Optional(
    Type.String({
      pattern: CURSOR.source,
      'x-says': 'is invalid: send next_cursor of the previous page unchanged',
      description: '`next_cursor` of the previous page.',
    }),
  ),
  from: Type.Optional(moment('Earliest time (inclusive).')),
  to: Type.Optional(moment('Latest time (exclusive).')),
}

type Query = { [name in keyof typeof CursorQuery]?: Static<(typeof CursorQuery)[name]> }

interface Position {
  readonly at: number
  readonly id: string
}

/** The part of a list, newest first, that a store returns. */
export interface Page {
  readonly limit: number
  readonly offset: number
  readonly before?: Position | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
}

export function pageOf(query: Query): Page {
  const limit = query.limit ?? DEFAULT_LIMIT
  const before = query.cursor === undefined ? undefined : decodeCursor(query.cursor)
  const offset = before ? 0 : ((query.page ?? 1) - 1) * limit
  const from = query.from === undefined ? undefined : timeOf(query.from, 'from')
  const to = query.to === undefined ? undefined : timeOf(query.to, 'to')
  return { limit, offset, before, from, to }
}

const encodeCursor = ({ at, id }: Position): string => `${at}.${id}`

function decodeCursor(text: string): Position {
  const [, at, id] = CURSOR.exec(text) ?? []
  if (at !== undefined && id !== undefined) return { at: Number(at), id }
  throw invalidPayload('cursor is invalid.', 'Send next_cursor of the previous page unchanged.')
}

/** Rows of a page. One row more than `limit` means that there is a next page. */
export interface Rows<Row> {
  readonly rows: readonly Row[]
  readonly total: number
}

export const listOf = <Item extends TSchema>(item: Item) =>
  Type.Object({
    object: Type.Literal('list'),
    data_ref: Type.Literal('data'),
    data: Type.Array(item),
    total: Type.Integer(),
    next_cursor: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  })

/** `position` is required for lists with a cursor. */
export function listAnswer<Row, Item>(
  { rows, total }: Rows<Row>,
  page: Page,
  shape: { item: (row: Row) => Item; position?: (row: Row) => Position },
) {
  const data = rows.slice(0, page.limit)
  const last = rows.length > page.limit ? data.at(-1) : undefined
  const next_cursor = last === undefined || !shape.position ? null : encodeCursor(shape.position(last))
  return {
    object: 'list' as const,
    data_ref: 'data' as const,
    data: data.map(shape.item),
    total,
    next_cursor,
  }
}

/** A list in Voucherify's format: `data_ref` names the key of the array. */
export const namedListOf = (name: string, item: TSchema) =>
  Type.Unsafe<object>(
    Type.Object({
      object: Type.Literal('list'),
      data_ref: Type.Literal(name),
      [name]: Type.Array(item),
      total: Type.Integer(),
      has_more: Type.Boolean(),
    }),
  )

export function namedList<Row>(
  name: string,
  { rows, total }: Rows<Row>,
  { page, item }: { page: Page; item: (row: Row) => object },
) {
  const [data, has_more] = [rows.slice(0, page.limit).map(item), rows.length > page.limit]
  return { object: 'list' as const, data_ref: name, [name]: data, total, has_more }
}

export const isoTime = (ms: number): string => new Date(ms).toISOString()
export const isoTimeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))
