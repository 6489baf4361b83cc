import { readFileSync } from 'node:fs'

/** The part of JSON Schema that the command line uses. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minProperties?: number
  /** Name of a schema in the components of the document. */
  readonly $ref?: string
  /** A point in time. The command line also takes how long ago it was. */
  readonly 'x-moment'?: boolean
  /** Values of which several may be named, separated by commas. */
  readonly 'x-values'?: readonly string[]
  /** The field is a list of ids of this noun. The command line takes names as well, one flag for each. */
  readonly 'x-noun'?: string
}

export interface Field {
  /** As in the API: `ip_whitelist`. */
  readonly name: string
  readonly schema: Schema
  readonly description: string | undefined
}

/** One endpoint as a command: `jeton <noun> <verb>`. */
export interface Operation {
  readonly noun: string
  readonly verb: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string | undefined
  /** The columns of a list, or the fields shown of one resource. */
  readonly columns: readonly string[] | undefined
  readonly query: readonly Field[]
  readonly body: Schema | undefined
  readonly answer: Schema | undefined
  /** The path parameter of the resource itself, which is the argument after the verb. */
  readonly ownParam: string | undefined
  /** True if the path contains a project. */
  readonly inProject: boolean
}

export interface Catalogue {
  readonly nouns: readonly string[]
  of(noun: string): readonly Operation[]
  find(noun: string, verb: string): Operation | undefined
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly schema: Schema
  readonly description?: string
}

type Content =
  | { readonly content?: { readonly 'application/json'?: { readonly schema: Schema } } }
  | undefined

interface Described {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
  readonly 'x-columns'?: readonly string[]
}

/** The part of the OpenAPI document that commands are generated from. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
}

/** Other paths are for API clients and probes, which use other credentials. */
const FOR_OPERATORS = '/management/'
/** Used by other commands, or by browsers only. */
const HIDDEN = new Set([
  ...['access.check', 'event.sign', 'whoami.show', 'setting.list', 'check.list', 'scope.list'],
  ...['session.create', 'session.end-current', 'login-code.create'],
])
/** Suffix of the same list for one project, used with `--project`. */
export const OF_PROJECT = '-of-project'

const schemaOf = (content: Content): Schema | undefined => content?.content?.['application/json']?.schema

/** Replaces references by what they refer to. */
function resolve(schema: Schema | undefined, schemas: Readonly<Record<string, Schema>>): Schema | undefined {
  if (!schema) return undefined
  if (schema.$ref) return resolve(schemas[schema.$ref.split('/').at(-1)!], schemas)
  const properties = Object.entries(schema.properties ?? {}).map(([name, one]) => [
    name,
    resolve(one, schemas)!,
  ])
  const items = resolve(schema.items, schemas)
  return {
    ...schema,
    ...(schema.properties && { properties: Object.fromEntries(properties) }),
    ...(items && { items }),
  }
}

interface Endpoint {
  readonly path: string
  readonly method: string
  readonly schemas: Readonly<Record<string, Schema>>
}

function operationOf({ path, method, schemas }: Endpoint, described: Described): Operation {
  const [noun = '', verb = ''] = described.operationId.split('.')
  const parameters = described.parameters ?? []
  const inPath = parameters.filter((one) => one.in === 'path').map((one) => one.name)
  return {
    noun,
    verb,
    method: method.toUpperCase(),
    path,
    summary: described.summary,
    description: described.description,
    columns: described['x-columns'],
    query: parameters
      .filter((one) => one.in === 'query')
      .map(({ name, schema, description }) => ({
        name,
        schema,
        description: description ?? schema.description,
      })),
    body: schemaOf(described.requestBody),
    answer: resolve(schemaOf(described.responses['200'] ?? described.responses['201']), schemas),
    ownParam: inPath.find((name) => name !== 'project_id' || noun === 'project'),
    inProject: noun !== 'project' && inPath.includes('project_id'),
  }
}

/** Reads the commands from the OpenAPI document of the routes: a new endpoint is a new command. */
export function readCatalogue(): Catalogue {
  const file = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')
  return catalogueOf(JSON.parse(file) as ApiDocument)
}

export function catalogueOf({ paths, components }: ApiDocument): Catalogue {
  const schemas = components?.schemas ?? {}
  const operations = Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => operationOf({ path, method, schemas }, described)),
    )
    .filter(({ noun, verb, path }) => path.startsWith(FOR_OPERATORS) && !HIDDEN.has(`${noun}.${verb}`))
  return {
    nouns: [...new Set(operations.map(({ noun }) => noun))],
    of: (noun) => operations.filter((one) => one.noun === noun),
    find: (noun, verb) => operations.find((one) => one.noun === noun && one.verb === verb),
  }
}

/** The schema of the entries of a list. */
export const entryOf = (list: Operation | undefined): Schema | undefined =>
  list?.answer?.properties?.data?.items
