import { readFileSync } from 'node:fs'

// biome-ignore lint/suspicious/noExplicitAny: JSON Schema, as it is written.
export type Schema = any

/** A route of the OpenAPI document, with its parameters. */
export interface FuzzRoute {
  readonly method: string
  /** `/v1/customers/{customerId}`. */
  readonly path: string
  readonly query: readonly { readonly name: string; readonly schema: Schema }[]
  readonly body: { readonly type: string; readonly schema: Schema } | undefined
  /** The credential that it requires. */
  readonly takes: 'operator' | 'key' | 'nothing'
}

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))

/** Follows local references. */
export function resolved(schema: Schema): Schema {
  let found = schema
  while (found?.$ref)
    found = found.$ref
      .replace(/^#\//, '')
      .split('/')
      .reduce((at: Schema, name: string) => at?.[name], document)
  return found ?? {}
}

function takes(security: readonly Record<string, unknown>[] | undefined): FuzzRoute['takes'] {
  if (!security) return 'nothing'
  return security.some((one) => 'managementId' in one) ? 'operator' : 'key'
}

function routeOf(path: string, method: string, operation: Schema): FuzzRoute {
  const [[type, content] = [undefined, undefined]] = Object.entries(operation.requestBody?.content ?? {}) as [
    string,
    Schema,
  ][]
  return {
    method: method.toUpperCase(),
    path,
    query: (operation.parameters ?? []).filter((one: Schema) => one.in === 'query'),
    body: type === undefined ? undefined : { type, schema: content.schema },
    takes: takes(operation.security),
  }
}

/** Connects to the address that it is sent, and tests reach nothing but this machine. Its address is that of webhooks. */
const CONNECTS = '/management/v1/projects/{project_id}/webhooks/check'

export const ROUTES: readonly FuzzRoute[] = Object.entries(document.paths as Record<string, Schema>)
  .filter(([path]) => path !== CONNECTS)
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => routeOf(path, method, operation)),
  )
