import { type Static, type TSchema, Type } from 'typebox'
import { Problem } from '../../contract/problem.ts'
import { DAY_OR_LOOSE_TIME } from '../../contract/times.ts'
import { invalidPayload } from './errors.ts'

/** Text on one line. */
const oneLine = (maxLength: number) => ({
  maxLength,
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
  'x-says': `must have at most ${maxLength} characters and no control characters`,
})

/** `type` or null in one schema, so that validation errors stay one sentence. */
export const nullable = <T>(type: 'string' | 'integer' | 'object', rules: object = {}) =>
  Type.Unsafe<T | null>({ type: [type, 'null'], ...rules })

export const NullableText = nullable<string>('string')
export const NullableInteger = nullable<number>('integer')

/** Text that a person typed: no control characters, not blank, and short enough for a table. */
const NAME_RULES = {
  minLength: 1,
  maxLength: 100,
  pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f]+$',
  'x-says': 'must be 1 to 100 characters, not blank and without control characters',
}
export const NameField = Type.String(NAME_RULES)
export const nullableName = (description: string) =>
  nullable<string>('string', { ...NAME_RULES, description })

/** An object in which unknown fields are refused. */
export const strict = <P extends Record<string, TSchema>>(properties: P, rules: object = {}) =>
  Type.Object(properties, { additionalProperties: false, ...rules })

/** Ids in paths are only looked up. Text that is not an id is not found. */
export const IdParam = Type.String(oneLine(300))

/** A filter of a list. */
export const filterField = (description: string) =>
  Type.Optional(Type.String({ ...oneLine(100), description }))

/** Query of a request that creates a resource whose name need not be unique. */
export const UniqueNameQuery = strict({
  unique_name: Type.Optional(
    Type.Boolean({ description: 'Refuse a name that another one in the project has, with 409.' }),
  ),
})

/** Several of these values, separated by commas. `x-values` tells them to the command line. */
export const listFilter = (values: readonly string[], description: string) => {
  const one = `(${values.join('|')})`
  return Type.Optional(
    Type.String({
      pattern: `^${one}(,${one})*$`,
      'x-says': `must be one of: ${values.join(', ')}, or several of them separated by commas`,
      'x-values': values,
      description,
    }),
  )
}

/** Response body of a deletion. */
export const Nothing = Type.Null({ description: 'Done; no body.' })

// Fields of `/v1`, where unknown fields are ignored: clients of Voucherify send more than Jeton supports.

/** Text without control characters, or null to clear it. */
export const textField = (maxLength: number) => Type.Optional(nullable<string>('string', oneLine(maxLength)))

/** Text that may have several lines. */
export const longTextField = (maxLength: number) => Type.Optional(nullable<string>('string', { maxLength }))

/** The client's own id of an object. Part of paths, so it is short, without outer spaces and control characters. */
export const sourceIdField = Type.Optional(
  nullable<string>('string', {
    minLength: 1,
    maxLength: 200,
    pattern: '^[^\\s\\u0000-\\u001f\\u007f]([^\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f])?$',
    'x-says':
      'must be 1 to 200 characters, without control characters and without leading or trailing spaces',
  }),
)

/** Integers that JavaScript, JSON and both stores keep exactly. */
export const countField = (rules: { minimum?: number; description?: string } = {}) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, ...rules })

export type Metadata = Record<string, unknown>

export const metadataField = Type.Optional(
  nullable<Metadata>('object', { description: 'Your own data, up to 16 KB.' }),
)

/** Metadata is part of every event, so its size is limited. */
const MAX_METADATA_BYTES = 16 * 1024

/** Returns the text to store; refuses metadata that is too large. */
export function metadataText(metadata: Metadata | null | undefined): string {
  const text = JSON.stringify(metadata ?? {})
  if (Buffer.byteLength(text) <= MAX_METADATA_BYTES) return text
  throw invalidPayload(
    `metadata is larger than ${MAX_METADATA_BYTES / 1024} KB.`,
    'Store large data elsewhere and its URL here. Nothing was changed.',
  )
}

/** A day or a time; in UTC if it has no offset. */
export const dateField = Type.Optional(nullable<string>('string', DAY_OR_LOOSE_TIME))

/** Epoch milliseconds of a `dateField`; undefined if it was not sent. */
export function dateOf(text: string | null | undefined, name: string): number | null | undefined {
  if (text === undefined || text === null) return text
  return timeOf(/T.*(Z|[+-]\d{2}:?\d{2})$/.test(text) || !text.includes('T') ? text : `${text}Z`, name)
}

/** Epoch milliseconds of a time. */
export function timeOf(text: string, name: string): number {
  const at = Date.parse(text)
  if (!Number.isNaN(at)) return at
  throw new Problem('invalid_payload', { message: `${name} must be a time such as 2026-11-15T14:00:00Z.` })
}

/** A response that the schema documents and a view builds. */
export const shownAs = (schema: TSchema) => Type.Unsafe<object>(schema)

/** Returns the fields that were sent: the columns to update. */
export const given = <T extends object, K extends keyof T>(from: T, fields: readonly K[]) =>
  Object.fromEntries(
    fields.filter((field) => from[field] !== undefined).map((field) => [field, from[field]]),
  ) as Partial<Pick<T, K>>

export type BodyOf<Schema extends TSchema> = Static<Schema>
