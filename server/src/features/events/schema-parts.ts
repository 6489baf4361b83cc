/**
 * Building blocks of the event schemas (JSON Schema draft 7). `x-says` holds the text of our own error messages. It is
 * removed from published schemas, because strict validators reject unknown keywords.
 */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly [keyword: string]: unknown
}

type Properties = Readonly<Record<string, Schema>>

/** Requires all properties except those in `optional`. Additional ones are allowed, because they break no receiver. */
export const object = (properties: Properties, optional: Properties = {}): Schema => ({
  type: 'object',
  required: Object.keys(properties),
  properties: { ...properties, ...optional },
})

/** Adds null as a second type. Compared with `anyOf`, validation errors stay one sentence. */
export const orNull = (schema: Schema): Schema => ({ ...schema, type: [schema.type as string, 'null'] })

export const about = (description: string, schema: Schema): Schema => ({ ...schema, description })

export const text: Schema = { type: 'string' }
export const textOrNull = orNull(text)
/** Ids have no required format, because other platforms report their own. */
export const id: Schema = { type: 'string', minLength: 1, maxLength: 255 }
export const integer: Schema = { type: 'integer' }
export const boolean: Schema = { type: 'boolean' }
export const anyObject: Schema = { type: 'object' }
export const listOf = (items: Schema): Schema => ({ type: 'array', items })
export const constant = (value: string): Schema => ({
  type: 'string',
  const: value,
  'x-says': `must be "${value}"`,
})
export const constantOrNull = (value: string): Schema => ({
  type: ['string', 'null'],
  enum: [value, null],
  'x-says': `must be "${value}" or null`,
})
export const oneOf = (...values: string[]): Schema => ({ type: 'string', enum: values })
export const idWith = (...prefixes: string[]): Schema => ({
  type: 'string',
  pattern: `^(${prefixes.join('|')})[0-9A-Za-z]+$`,
})

export const time: Schema = {
  type: 'string',
  pattern: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z$',
  'x-says': 'must be a time in UTC with milliseconds, such as 2026-11-15T14:00:00.000Z',
}
export const timeOrNull = orNull(time)

/** Removes our own keyword `x-says`. */
export function withoutSays(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutSays)
  if (typeof schema !== 'object' || schema === null) return schema
  const entries = Object.entries(schema).filter(([name]) => name !== 'x-says')
  return Object.fromEntries(entries.map(([name, value]) => [name, withoutSays(value)]))
}
