import { type TSchema, Type } from 'typebox'

/** Text that a person typed: no control characters, not blank, and short enough for a table. */
export const NameField = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f]+$',
  'x-says': 'must be 1 to 100 characters, not blank and without control characters',
})

/** `type` and null, in one schema, so that what is wrong can be said in one sentence. */
export const nullable = <T>(type: 'string' | 'integer', rules: object = {}) =>
  Type.Unsafe<T | null>({ type: [type, 'null'], ...rules })

export const NullableText = nullable<string>('string')
export const NullableInteger = nullable<number>('integer')

/** A body in which an unknown field is refused. */
export const strict = <P extends Record<string, TSchema>>(properties: P, rules: object = {}) =>
  Type.Object(properties, { additionalProperties: false, ...rules })

const oneLine = (maxLength: number) => ({
  maxLength,
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
  'x-says': `must have at most ${maxLength} characters and no control characters`,
})

/** Ids in paths are only ever looked up: whatever is no id of ours is simply not found. */
export const IdParam = Type.String(oneLine(300))

/** A value that a list is narrowed by. */
export const filterField = (description: string) =>
  Type.Optional(Type.String({ ...oneLine(100), description }))

/** The answer to a deletion. */
export const Nothing = Type.Null({ description: 'Done; no body.' })
