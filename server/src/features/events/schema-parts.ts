/**
 * Words of JSON Schema (draft 7) that the schemas of events are made of. `x-says` is a rule in words for our own error
 * messages; it is left out of what ships, since strict validators refuse keywords that they do not know.
 */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly [keyword: string]: unknown
}

type Properties = Readonly<Record<string, Schema>>

/** All properties are required, but for those named in `optional`. More may be added: that breaks no receiver. */
export const object = (properties: Properties, optional: Properties = {}): Schema => ({
  type: 'object',
  required: Object.keys(properties),
  properties: { ...properties, ...optional },
})

/** One schema with null as a second type, not a choice of two: what is wrong can then be said in one sentence. */
export const orNull = (schema: Schema): Schema => ({ ...schema, type: [schema.type as string, 'null'] })

export const about = (description: string, schema: Schema): Schema => ({ ...schema, description })

export const text: Schema = { type: 'string' }
export const textOrNull = orNull(text)
/** Nothing is prescribed of ids: platforms that report have their own. */
export const id: Schema = { type: 'string', minLength: 1, maxLength: 255 }
export const integer: Schema = { type: 'integer' }
export const yesOrNo: Schema = { type: 'boolean' }
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

/** Without our own keyword. */
export function withoutSays(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutSays)
  if (typeof schema !== 'object' || schema === null) return schema
  const entries = Object.entries(schema).filter(([name]) => name !== 'x-says')
  return Object.fromEntries(entries.map(([name, value]) => [name, withoutSays(value)]))
}
