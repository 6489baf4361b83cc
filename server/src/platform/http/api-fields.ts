import { type Static, type TSchema, Type } from 'typebox'
import { Problem } from '../../contract/problem.ts'
import type { Page, Rows } from './lists.ts'
import { DAY_OR_LOOSE_TIME } from './times.ts'

/** Fields of `/v1`, where what we do not know is ignored: foreign clients send more than we know. */

/** Text without control characters, or null to clear it. */
export const textField = (maxLength: number) =>
  Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      maxLength,
      pattern: '^[^\\u0000-\\u001f\\u007f]*$',
      'x-says': `must have at most ${maxLength} characters and no control characters`,
    }),
  )

/** Text that may have several lines. */
export const longTextField = (maxLength: number) =>
  Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength }))

/** A caller's own id for something: it stands in paths, so it is short and has neither blanks at its ends nor control characters. */
export const sourceIdField = Type.Optional(
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    minLength: 1,
    maxLength: 200,
    pattern: '^[^\\s\\u0000-\\u001f\\u007f]([^\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f])?$',
    'x-says': 'must be 1 to 200 characters, without control characters and without blanks at its ends',
  }),
)

export type Metadata = Record<string, unknown>

export const metadataField = Type.Optional(
  Type.Unsafe<Metadata | null>({
    type: ['object', 'null'],
    description: 'Anything of your own, up to 16 KB.',
  }),
)

/** It goes along into every event, so it is no place for documents. */
const METADATA_BYTES = 16 * 1024

/** As it is stored; refuses what is too large. */
export function metadataText(metadata: Metadata | null | undefined): string {
  const text = JSON.stringify(metadata ?? {})
  if (Buffer.byteLength(text) > METADATA_BYTES)
    throw new Problem('invalid_payload', {
      message: `metadata is larger than ${METADATA_BYTES / 1024} KB.`,
      details: 'Keep large things elsewhere and their address here. Nothing was changed.',
    })
  return text
}

/** Whole numbers that JavaScript, JSON and both stores keep exactly. */
export const countField = (rules: { minimum?: number; description?: string } = {}) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, ...rules })

export const dateField = Type.Optional(
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    ...DAY_OR_LOOSE_TIME,
  }),
)

/** Epoch milliseconds of a `dateField`; undefined where it was not sent. */
export function dateOf(text: string | null | undefined, name: string): number | null | undefined {
  if (text === undefined || text === null) return text
  const at = Date.parse(/T.*(Z|[+-]\d{2}:?\d{2})$/.test(text) || !text.includes('T') ? text : `${text}Z`)
  if (Number.isNaN(at))
    throw new Problem('invalid_payload', { message: `${name} must be a time such as 2026-11-15T14:00:00Z.` })
  return at
}

/** An answer of `/v1`: documented by the schema, made by a view. */
export const shownAs = (schema: TSchema) => Type.Unsafe<object>(schema)

/** Lists of the platform name their array: `data_ref` says under which key it is. */
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
  return {
    object: 'list' as const,
    data_ref: name,
    [name]: rows.slice(0, page.limit).map(item),
    total,
    has_more: rows.length > page.limit,
  }
}

/** What was sent of `fields`, without what was not: for rows in which only that changes. */
export function given<T extends object, K extends keyof T>(
  from: T,
  fields: readonly K[],
): Partial<Pick<T, K>> {
  const found: Partial<Pick<T, K>> = {}
  for (const field of fields) if (from[field] !== undefined) found[field] = from[field]
  return found
}

export type BodyOf<Schema extends TSchema> = Static<Schema>
