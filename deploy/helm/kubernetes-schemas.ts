import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Schema {
  type?: string
  format?: string
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  items?: Schema
  $ref?: string
  'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[]
  [name: string]: unknown
}

interface CustomResource {
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string }
    readonly versions: readonly { readonly name: string; readonly schema: { openAPIV3Schema: Schema } }[]
  }
}

/** Unpacks a module from the Go proxy, which also has the schemas of Kubernetes, and returns its folder. */
export const goModule = (module: string): string =>
  JSON.parse(execFileSync('go', ['mod', 'download', '-json', module], { cwd: tmpdir(), encoding: 'utf8' }))
    .Dir

const EITHER: Schema = { oneOf: [{ type: 'string' }, { type: 'number' }] }
/** Kubernetes calls them strings, and accepts numbers. */
const isAlsoNumber = (name: string, { format }: Schema): boolean =>
  format === 'int-or-string' || name.endsWith('.resource.Quantity')

/** Forbids properties that the schema does not name, since Kubernetes drops misspelt ones silently. */
function strict(schema: Schema): Schema {
  if (schema['x-kubernetes-int-or-string']) return EITHER
  const { properties, additionalProperties: others, items } = schema
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, strict(one)])),
      additionalProperties: typeof others === 'object' ? strict(others) : false,
    }),
    ...(!properties && typeof others === 'object' && { additionalProperties: strict(others) }),
    ...(items && { items: strict(items) }),
  }
}

const fileName = (kind: string, group: string, version: string): string =>
  `${[kind, group.split('.')[0], version].filter(Boolean).join('-')}.json`.toLowerCase()

/** Writes one strict schema per kind, as kubeconform looks for them. */
export function writeKubernetesSchemas(version: string, folder: string): void {
  const swagger = join(goModule(`k8s.io/kubernetes@${version}`), 'api/openapi-spec/swagger.json')
  const found = JSON.parse(readFileSync(swagger, 'utf8')).definitions as Record<string, Schema>
  const definitions = Object.fromEntries(
    Object.entries(found).map(([name, schema]) => [
      name,
      isAlsoNumber(name, schema) ? EITHER : strict(schema),
    ]),
  )
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'definitions.json'),
    JSON.stringify({ definitions }).replaceAll('"#/', '"definitions.json#/'),
  )
  for (const [name, schema] of Object.entries(found))
    for (const { kind, group, version: of } of schema['x-kubernetes-group-version-kind'] ?? [])
      writeFileSync(
        join(folder, fileName(kind, group, of)),
        JSON.stringify({ $ref: `definitions.json#/definitions/${name}` }),
      )
}

/** Writes the schema of a custom resource. Its metadata is checked by Kubernetes, not by the resource. */
export function writeCustomSchema(file: string, folder: string): void {
  const { spec } = JSON.parse(readFileSync(file, 'utf8')) as CustomResource
  for (const { name, schema } of spec.versions) {
    const { properties, ...rest } = strict(schema.openAPIV3Schema)
    const whole = { ...rest, properties: { ...properties, metadata: { type: 'object' } } }
    writeFileSync(join(folder, fileName(spec.names.kind, spec.group, name)), JSON.stringify(whole))
  }
}
