import { readFileSync } from 'node:fs'
import { Option } from 'commander'
import { didYouMean } from '../platform/closest.ts'
import { wrongUsage } from './exit.ts'
import { durationMs } from './format.ts'
import type { Io } from './io.ts'
import type { Field, Schema } from './operations.ts'

export type Options = Readonly<Record<string, unknown>>

export const flagOf = (name: string): string => `--${name.replaceAll('_', '-')}`
const attributeOf = (name: string): string =>
  name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** The flag of a field. A list of ids takes one flag for each: `projects` is `--project`. */
export const flagFor = ({ name, schema }: Pick<Field, 'name' | 'schema'>): string =>
  flagOf(schema['x-noun'] ?? name)

/** Stands for null, which commander would treat as a missing value. */
const NULL = Symbol('null')

/** The value of a field; undefined without its flag. */
export function givenFor(options: Options, { name, schema }: Field): unknown {
  const only = onlyValueOf(schema)
  if (only !== undefined) return options[attributeOf(only)] === true ? only : undefined
  const value = options[attributeOf(name)]
  return value === NULL ? null : value
}

/** A field with one possible value becomes a switch: `state=failing` is `--failing`. */
const onlyValueOf = ({ enum: choices }: Schema): string | undefined =>
  choices?.length === 1 ? choices[0] : undefined

export const fieldsOf = (schema: Schema | undefined): Field[] =>
  Object.entries(schema?.properties ?? {}).map(([name, property]) => ({
    name,
    schema: property,
    description: property.description,
  }))

const typesOf = ({ type }: Schema): readonly string[] => (typeof type === 'string' ? [type] : (type ?? []))

const PLACEHOLDERS = {
  integer: 'number',
  number: 'number',
  array: 'a,b',
  boolean: 'true|false',
  object: 'json',
}

/** Longer lists of choices move to the description. */
const MAX_CHOICES = 24

const valuesOf = (schema: Schema): readonly string[] => schema['x-values'] ?? schema.enum ?? []
const choicesOf = (schema: Schema): string => valuesOf(schema).join('|')

function placeholderOf(schema: Schema): string {
  if (schema['x-noun']) return schema['x-noun']
  const choices = choicesOf(schema)
  if (schema['x-values']) return 'a,b'
  if (choices) return choices.length <= MAX_CHOICES ? choices : 'one'
  if (schema['x-moment']) return 'time'
  const kind = Object.entries(PLACEHOLDERS).find(([type]) => typesOf(schema).includes(type))
  return kind?.[1] ?? 'text'
}

/** A field of the API as a flag: `ip_whitelist` is `--ip-whitelist <a,b>`. A boolean needs no value. */
export function optionOf({ name, schema, description }: Field, required: boolean): Option {
  const hint = schema['x-moment'] && 'A time, or how long ago: 6h, 30min, 2d.'
  const choices = choicesOf(schema).length > MAX_CHOICES && `One of: ${valuesOf(schema).join(', ')}.`
  // A required flag has no default, even if the API has one.
  const text = required ? description?.replace(/ Default: [^.]*\./, '') : description
  const parts = [text?.replaceAll('`', ''), choices, hint, required && 'Required.']
  const says = parts.filter(Boolean).join(' ')
  const only = onlyValueOf(schema)
  if (only !== undefined) return new Option(flagOf(only), says)
  const isSwitch = typesOf(schema).includes('boolean')
  const value = isSwitch ? `[${placeholderOf(schema)}]` : `<${placeholderOf(schema)}>`
  const option = new Option(`${flagFor({ name, schema })} ${value}`, says)
  // So that `--project` of a field is not taken for the project of the command.
  option.attributeName = () => attributeOf(name)
  return option.argParser((text: string, before: unknown) => parse({ name, schema }, text, before))
}

/** Replaces a duration such as `6h` by the time that long ago. */
export function asSent({ name, schema }: Field, value: unknown, now: number): unknown {
  if (!schema['x-moment'] || typeof value !== 'string' || !/^\d+\s*[a-z]+$/i.test(value)) return value
  return new Date(now - durationMs(flagOf(name), value)).toISOString()
}

function parse({ name, schema }: { name: string; schema: Schema }, text: string, before: unknown): unknown {
  const types = typesOf(schema)
  if (text === 'null' && types.includes('null')) return NULL
  if (types.includes('array')) return [...((before as unknown[] | undefined) ?? []), ...listOf(text)]
  if (types.includes('integer') || types.includes('number')) return numberOf(name, text)
  if (types.includes('boolean')) return choiceOf(name, text, ['true', 'false']) === 'true'
  if (types.includes('object')) return jsonOf(flagOf(name), text)
  const several = schema['x-values']
  if (several)
    return listOf(text)
      .map((one) => choiceOf(name, one, several))
      .join(',')
  return schema.enum ? choiceOf(name, text, schema.enum) : text
}

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)

function numberOf(name: string, text: string): number {
  if (/^-?\d{1,15}$/.test(text)) return Number(text)
  throw wrongUsage(`${flagOf(name)}: ${JSON.stringify(text)} is not a whole number.`)
}

function choiceOf(name: string, text: string, choices: readonly string[]): string {
  if (choices.includes(text)) return text
  throw wrongUsage(
    `${flagOf(name)}: ${JSON.stringify(text)} is not one of: ${choices.join(', ')}.${didYouMean(text, choices)}`,
  )
}

function jsonOf(flag: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw wrongUsage(`${flag}: invalid JSON (${(error as Error).message}).`)
  }
}

/** `--data`: JSON, `@file`, or `-` for standard input. */
export async function dataOf(io: Io, given: string): Promise<Record<string, unknown>> {
  const value = jsonOf('--data', given === '-' || given === '@-' ? await io.readInput() : fromFile(given))
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw wrongUsage('--data: must be a JSON object, such as {"name":"pos"}.')
}

function fromFile(given: string): string {
  if (!given.startsWith('@')) return given
  try {
    return readFileSync(given.slice(1), 'utf8')
  } catch (error) {
    throw wrongUsage(`--data: cannot read ${given.slice(1)} (${(error as NodeJS.ErrnoException).code}).`)
  }
}
