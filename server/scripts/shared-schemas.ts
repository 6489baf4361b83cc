/** A JSON Schema in the generated document. */
export interface Schema {
  description?: string
  $ref?: string
  enum?: readonly unknown[]
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

const pascalCase = (name: string): string =>
  name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Suffixes that distinguish the forms of one resource. */
const SUFFIXES: readonly (readonly [property: string, suffix: string])[] = [
  ['secret', 'WithSecret'],
  ['app_token', 'WithSecret'],
  ['token', 'WithSecret'],
  ['propagation', 'Changed'],
  ['payload', 'Detail'],
  ['attempt', 'Test'],
  ['deliveries', 'Record'],
  ['data', 'Detail'],
  ['side', 'Description'],
]

/** Collects the schemas of resources, which are named by `object`, and replaces them by references. */
export class SharedSchemas {
  readonly schemas: Record<string, Schema> = {}

  share(schema: Schema): Schema {
    const { description, ...inside } = this.#shareInside(schema)
    const type = schema.properties?.object?.enum?.[0]
    if (typeof type !== 'string' || type === 'list') return { ...(description && { description }), ...inside }
    const name = this.#nameOf(pascalCase(type), inside)
    this.schemas[name] = inside
    return { ...(description && { description }), $ref: `#/components/schemas/${name}` }
  }

  #shareInside({ properties, items, anyOf, oneOf, allOf, ...rest }: Schema): Schema {
    const all = (schemas: Schema[]) => schemas.map((one) => this.share(one))
    return {
      ...rest,
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, one]) => [name, this.share(one)]),
        ),
      }),
      ...(items && { items: this.share(items) }),
      ...(anyOf && { anyOf: all(anyOf) }),
      ...(oneOf && { oneOf: all(oneOf) }),
      ...(allOf && { allOf: all(allOf) }),
    }
  }

  #nameOf(name: string, schema: Schema): string {
    const isFree = (one: string) =>
      this.schemas[one] === undefined || JSON.stringify(this.schemas[one]) === JSON.stringify(schema)
    const suffix = SUFFIXES.find(([property]) => schema.properties?.[property])?.[1] ?? ''
    const full = name + suffix
    if (!isFree(full)) throw new Error(`two schemas are named ${full}: tell them apart in SUFFIXES`)
    return full
  }
}

/** Describes every property without a description by its name. */
export function describeFields(schema: Schema, descriptions: Readonly<Record<string, string>>): void {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (!property.$ref) property.description ??= descriptions[name]
    describeFields(property, descriptions)
  }
  for (const inner of [
    schema.items,
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.allOf ?? []),
  ])
    if (inner) describeFields(inner, descriptions)
}
