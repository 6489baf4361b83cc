import type { Random } from '../faults/random.ts'
import { resolved, type Schema } from './routes.ts'

/** Strings that often reveal bugs. None of them looks like leaked internals. */
const TEXTS: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff\ud800',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'NaN',
  '[object Object]',
  "' or 1=1 --",
  '"; drop table x; --',
  '%00',
  '%s%s%n',
  '#{7*7}',
  '{{7*7}}',
  '../../../../etc/passwd',
  '\\\\host\\share',
  '<script>alert(1)</script>',
  '\r\nX-Injected: yes',
  '\u202e\u2066right to left',
  '\ufeff',
  '😀'.repeat(20),
  'a'.repeat(300),
  'a'.repeat(70_000),
  'é'.normalize('NFD'),
  'ſı',
  '1e400',
  '0x10',
  '2026-02-30T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '-000001-01-01T00:00:00Z',
  'http://169.254.169.254/latest',
  'javascript:alert(1)',
  'https://user:pw@example.com',
]

const NUMBERS: readonly unknown[] = [
  0,
  -0,
  -1,
  1.5,
  1e-10,
  2 ** 31,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 63,
  -(2 ** 63) - 1024,
  1e308,
  -1e308,
  Number.MIN_VALUE,
]

const deep = (levels: number): unknown => {
  let value: unknown = 'deep'
  for (let i = 0; i < levels; i++) value = i % 2 ? [value] : { a: value }
  return value
}

/** A value that no schema expects. */
export function hostileValue(random: Random): unknown {
  return random.weighted<() => unknown>([
    [6, () => random.pick(TEXTS)],
    [4, () => random.pick(NUMBERS)],
    [1, () => true],
    [2, () => null],
    [1, () => []],
    [1, () => ({})],
    [1, () => Array.from({ length: random.between(1, 2_000) }, () => 1)],
    [1, () => deep(random.pick([3, 63, 64, 65, 200]))],
    [1, () => Object.fromEntries(Array.from({ length: random.between(1, 300) }, (_, i) => [`k${i}`, i]))],
    [1, () => JSON.parse(`{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}}}`)],
  ])()
}

export interface Ids {
  /** A known id for a field or path parameter of this name. */
  for(name: string): string | undefined
}

function textFor(name: string, schema: Schema, random: Random, ids: Ids): string {
  if (schema.const !== undefined) return String(schema.const)
  if (schema.enum) return String(random.pick(schema.enum))
  const known = ids.for(name)
  if (known !== undefined && random.chance(0.8)) return known
  if (schema.format === 'date-time' || /(_at|_date|date)$/.test(name)) return '2026-01-15T12:00:00.000Z'
  if (/url/.test(name)) return 'https://hooks.example/jeton'
  if (/email/.test(name)) return `a${random.between(1, 99)}@example.com`
  return `text ${random.between(1, 1_000)}`
}

/** A value that the schema probably allows. */
export function fittingValue(
  schema_: Schema,
  random: Random,
  { ids, name }: { ids: Ids; name: string },
): unknown {
  const schema = resolved(schema_)
  const options = schema.anyOf ?? schema.oneOf
  if (options) return fittingValue(random.pick(options), random, { ids, name })
  if (schema.allOf)
    return Object.assign({}, ...schema.allOf.map((one: Schema) => fittingValue(one, random, { ids, name })))
  const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type
  switch (type) {
    case 'null':
      return null
    case 'boolean':
      return random.chance(0.5)
    case 'integer':
    case 'number':
      return random.between(Math.max(schema.minimum ?? 0, -1_000), Math.min(schema.maximum ?? 1_000, 1_000))
    case 'array': {
      const length = random.between(schema.minItems ?? 0, Math.min(schema.maxItems ?? 3, 3))
      return Array.from({ length }, () => fittingValue(schema.items ?? {}, random, { ids, name }))
    }
    case 'object':
      return fittingObject(schema, random, ids)
    default:
      return schema.properties ? fittingObject(schema, random, ids) : textFor(name, schema, random, ids)
  }
}

function fittingObject(schema: Schema, random: Random, ids: Ids): Record<string, unknown> {
  const required = new Set<string>(schema.required ?? [])
  return Object.fromEntries(
    Object.entries(schema.properties ?? {})
      .filter(([name]) => required.has(name) || random.chance(0.4))
      .map(([name, inner]) => [name, fittingValue(inner, random, { ids, name })]),
  )
}

/** The same value with a few parts replaced, removed, added or repeated. */
export function broken(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.15)) return hostileValue(random)
  if (Array.isArray(value)) {
    if (value.length === 0) return [hostileValue(random)]
    return value.with(random.between(0, value.length - 1), hostileValue(random))
  }
  const copy: Record<string, unknown> = { ...value }
  const names = Object.keys(copy)
  for (let changes = random.between(1, 3); changes > 0; changes--) {
    const name = random.pick(names)
    const act = random.between(0, 4)
    if (act === 0 && name !== undefined) delete copy[name]
    else if (act === 1) copy[random.pick(TEXTS)] = hostileValue(random)
    else if (act === 2 && name !== undefined) copy[name] = broken(copy[name], random)
    else if (name !== undefined) copy[name] = hostileValue(random)
  }
  return copy
}

/** Bytes of JSON, or of something similar. */
export function jsonBytes(value: unknown, random: Random): Buffer {
  const text = JSON.stringify(value) ?? 'undefined'
  return random.weighted<() => Buffer>([
    [60, () => Buffer.from(text)],
    [2, () => Buffer.from(text.slice(0, random.between(0, text.length)))],
    [2, () => Buffer.from(`\ufeff${text}`)],
    [2, () => Buffer.from(text, 'utf16le')],
    [2, () => Buffer.from(`${text}${text}`)],
    [2, () => Buffer.from(text.replace('{', '{"a":1,"a":2,'))],
    [2, () => Buffer.from(text.replace(/\d+/, '1e999'))],
    [2, () => Buffer.from(text.replace(/\d+/, `${'9'.repeat(random.between(1, 4_000))}`))],
    [
      2,
      () =>
        Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from('}')]),
    ],
    [1, () => Buffer.from('['.repeat(random.pick([64, 65, 5_000, 200_000])))],
    [1, () => Buffer.from(`{"a":"${'x'.repeat(random.pick([1_000_000, 1_100_000]))}"}`)],
    [1, () => Buffer.from(text.replaceAll('"', "'"))],
    [1, () => Buffer.from(`${' '.repeat(random.between(1, 10_000))}${text}`)],
  ])()
}

/** A form, or something similar. */
export function formBytes(value: unknown, random: Random): Buffer {
  const fields = Object.entries((value ?? {}) as object).map(
    ([name, inner]) => [name, typeof inner === 'string' ? inner : JSON.stringify(inner)] as const,
  )
  const encoded = fields.map(([name, text]) => {
    const plain = `${encodeForm(name)}=${encodeForm(text ?? '')}`
    return random.weighted<() => string>([
      [10, () => plain],
      [1, () => `${plain}&${plain}`],
      [1, () => `${name}=%zz`],
      [1, () => `${name}=%00`],
      [1, () => `${name}=%ff%fe`],
      [1, () => `${name}[]=${text}`],
      [1, () => name],
      [1, () => `${plain};${plain}`],
    ])()
  })
  return Buffer.from(encoded.join('&'), random.chance(0.95) ? 'utf8' : 'latin1')
}

const encodeForm = (text: string): string => encodeURIComponent(text.toWellFormed())
