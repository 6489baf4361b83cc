import { isScope, SCOPE_VALUES } from '../../src/contract/scopes.ts'

/** The part of JSON Schema that TypeScript types are made of. */
export interface TypeSchema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly description?: string
  readonly properties?: Readonly<Record<string, TypeSchema>>
  readonly required?: readonly string[]
  readonly items?: TypeSchema
  readonly additionalProperties?: boolean | TypeSchema
  readonly anyOf?: readonly TypeSchema[]
  readonly oneOf?: readonly TypeSchema[]
  readonly $ref?: string
  readonly 'x-moment'?: boolean
}

/** Types that replace those of the schema, by property name. */
export type Replacements = Readonly<Record<string, string>>

const NAME = /^[A-Za-z_$][\w$]*$/

export const propertyName = (name: string): string => (NAME.test(name) ? name : `'${name}'`)

export const nameOfRef = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1)

/** A comment, unless there is nothing to say. */
export const comment = (text: string | undefined, indent: string): string =>
  text ? `${indent}/** ${text.replaceAll('\n', ' ').replaceAll('*/', '*\\/')} */\n` : ''

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ')

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

/** Schemas of a choice that only name required fields add no type. */
const typedChoices = ({ anyOf, oneOf }: TypeSchema): readonly TypeSchema[] =>
  (anyOf ?? oneOf ?? []).filter((one) => one.type ?? one.$ref ?? one.enum ?? one.const ?? one.properties)

/** Writes the TypeScript type of a schema. */
export function typeText(schema: TypeSchema, indent = '', replaced: Replacements = {}): string {
  if (schema.$ref) return nameOfRef(schema.$ref)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum?.length === SCOPE_VALUES.length && schema.enum.every((value) => isScope(String(value))))
    return 'Scope'
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)))
  if (schema['x-moment']) return 'string | Date'
  const choices = typedChoices(schema)
  if (choices.length > 0 && !schema.properties)
    return union(choices.map((one) => typeText(one, indent, replaced)))
  const types = [schema.type ?? 'unknown'].flat()
  return union(types.map((type) => typeOf(type, schema, { indent, replaced })))
}

function typeOf(
  type: string,
  schema: TypeSchema,
  { indent, replaced }: { indent: string; replaced: Replacements },
): string {
  if (type === 'array') return `readonly (${typeText(schema.items ?? {}, indent, replaced)})[]`
  if (type !== 'object') return PRIMITIVES[type] ?? 'unknown'
  const { additionalProperties: more } = schema
  if (schema.properties && Object.keys(schema.properties).length > 0)
    return objectText(schema, indent, replaced)
  return `Readonly<Record<string, ${typeof more === 'object' ? typeText(more, indent, replaced) : 'unknown'}>>`
}

/** An object type in braces. */
export function objectText(schema: TypeSchema, indent = '', replaced: Replacements = {}): string {
  const inner = `${indent}  `
  const lines = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const optional = schema.required?.includes(name) ? '' : '?'
    const type = replaced[name] ?? typeText(property, inner, replaced)
    return `${comment(property.description, inner)}${inner}readonly ${propertyName(name)}${optional}: ${type}\n`
  })
  return `{\n${lines.join('')}${indent}}`
}
