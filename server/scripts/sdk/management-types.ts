import { comment, nameOfRef, objectText, propertyName, type TypeSchema, typeText } from './type-text.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: TypeSchema
}

interface Content {
  readonly content?: { readonly 'application/json'?: { readonly schema: TypeSchema } }
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content & { readonly required?: boolean }
  readonly responses: Readonly<Record<string, Content>>
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, TypeSchema>> }
}

/** Fields of an answer that the SDK wraps in `Secret`, by schema. */
const SECRETS: Readonly<Record<string, readonly string[]>> = {
  ApiKeyWithSecret: ['app_token'],
  OperatorWithSecret: ['token'],
  WebhookWithSecret: ['secret'],
  DistributionWithSecret: ['secret'],
  LoginCode: ['code', 'url'],
}

/** Resources whose name has no plural. */
const SINGULAR = new Set(['usage', 'attention', 'audit', 'store', 'queue', 'whoami', 'access'])

const camelCase = (name: string): string =>
  name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

function plural(noun: string): string {
  if (SINGULAR.has(noun)) return noun
  return (
    camelCase(noun)
      .replace(/([^aeiou])y$/, '$1ie')
      .replace(/ss$/, 'sse') + 's'
  )
}

const METHOD_NAMES: Readonly<Record<string, string>> = { show: 'get', 'list-of-project': 'list' }

const PREFIX = '/management/v1'
const IN_PROJECT = '/projects/{project_id}/'

/** An operation of the management API as a method of the SDK. */
interface Method {
  readonly inProject: boolean
  readonly group: string
  readonly name: string
  readonly summary: string
  readonly http: string
  readonly path: string
  readonly ids: readonly string[]
  readonly query: readonly Parameter[]
  readonly body: TypeSchema | undefined
  readonly bodyIsRequired: boolean
  readonly answer: TypeSchema | undefined
}

function methodOf(path: string, http: string, operation: Operation): Method {
  const [noun = '', verb = ''] = operation.operationId.split('.')
  const short = path.slice(PREFIX.length)
  const inProject = short.startsWith(IN_PROJECT)
  const ids = [...short.matchAll(/\{(\w+)\}/g)].map(([, id]) => id!)
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1]
  return {
    inProject,
    group: plural(noun),
    name: METHOD_NAMES[verb] ?? camelCase(verb),
    summary: operation.summary,
    http: http.toUpperCase(),
    path: inProject ? short.slice(IN_PROJECT.length - 1) : short,
    ids: inProject ? ids.slice(1) : ids,
    query: (operation.parameters ?? []).filter((one) => one.in === 'query'),
    body: operation.requestBody?.content?.['application/json']?.schema,
    bodyIsRequired: operation.requestBody?.required === true,
    answer: success?.content?.['application/json']?.schema,
  }
}

const methodsOf = ({ paths }: OpenApi): Method[] =>
  Object.entries(paths)
    .filter(([path]) => path.startsWith(PREFIX))
    .flatMap(([path, methods]) => Object.entries(methods).map(([http, one]) => methodOf(path, http, one)))

const itemOf = ({ answer }: Method): TypeSchema | undefined =>
  answer?.properties?.data_ref ? answer.properties.data?.items : undefined

const secretsOf = ({ answer }: Method): readonly string[] => SECRETS[nameOfRef(answer?.$ref ?? '')] ?? []

/** Paging is the iterator's task. */
const PAGING = new Set(['limit', 'page', 'cursor'])

/** Filters and body in one object. */
function inputOf(method: Method): TypeSchema {
  const query = method.query.filter(({ name }) => !itemOf(method) || !PAGING.has(name))
  const { body } = method
  return {
    properties: {
      ...body?.properties,
      ...Object.fromEntries(query.map(({ name, schema, description }) => [name, { ...schema, description }])),
    } as Record<string, TypeSchema>,
    required: [
      ...(body?.required ?? []),
      ...query.filter(({ required }) => required).map(({ name }) => name),
    ],
  }
}

function answerText(method: Method): string {
  const item = itemOf(method)
  if (item) return `List<${typeText(item, '    ')}>`
  if (!method.answer) return 'Promise<void>'
  return `Promise<${typeText(method.answer, '    ')}>`
}

function signature(method: Method): string {
  const input = inputOf(method)
  const ids = method.ids.map((id) => `${camelCase(id.replaceAll('_', '-'))}: string`)
  const hasInput = Object.keys(input.properties ?? {}).length > 0
  const isOptional = (input.required ?? []).length === 0 && !method.bodyIsRequired
  const last = hasInput ? [`input${isOptional ? '?' : ''}: ${objectText(input, '    ')}`] : []
  return `${comment(method.summary + '.', '    ')}    ${method.name}(${[...ids, ...last].join(', ')}): ${answerText(method)}\n`
}

function groupsOf(methods: readonly Method[]): string {
  const groups = Map.groupBy(methods, ({ group }) => group)
  return [...groups]
    .map(([group, own]) => `  readonly ${propertyName(group)}: {\n${own.map(signature).join('')}  }\n`)
    .join('')
}

/** Schemas that the methods use, directly or inside others. */
function usedSchemas(methods: readonly Method[], schemas: OpenApi['components']['schemas']): string[] {
  const used = new Set<string>()
  const visit = (value: unknown): void => {
    for (const [, name] of JSON.stringify(value ?? null).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name!)) continue
      used.add(name!)
      visit(schemas[name!])
    }
  }
  for (const { answer, body } of methods) visit([answer, body])
  return Object.keys(schemas).filter((name) => used.has(name))
}

function schemaText(name: string, schema: TypeSchema): string {
  const secrets = SECRETS[name] ?? []
  const replaced = Object.fromEntries(secrets.map((field) => [field, 'Secret']))
  return `export interface ${name} ${objectText(schema, '', replaced)}\n`
}

export const HEADER = '// Generated by `npm run generate`. Do not edit.\n'

/** Generates the types of the management client. */
export function managementTypes(api: OpenApi): string {
  const methods = methodsOf(api)
  const { schemas } = api.components
  const [inProject, others] = [
    methods.filter((one) => one.inProject),
    methods.filter((one) => !one.inProject),
  ]
  return [
    `${HEADER}import type { List } from '../management/list.ts'\nimport type { Secret } from '../management/secret.ts'\nimport type { Scope } from './scopes.ts'\n`,
    ...usedSchemas(methods, schemas).map((name) => schemaText(name, schemas[name]!)),
    `/** Operations on one project. */\nexport interface ProjectManagement {\n${groupsOf(inProject)}}\n`,
    `/** Operations on the service. \`project\` has those on one project. */\nexport interface Management {\n${groupsOf(others)}  project(projectId: string): ProjectManagement\n}\n`,
  ].join('\n')
}

/** Generates the table that the client is made of: method, path, names of query parameters, kind of answer, secrets. */
export function managementOperations(api: OpenApi): string {
  const rowOf = (method: Method): string => {
    const kind = itemOf(method) ? 'list' : method.answer ? 'json' : 'nothing'
    const row = [method.http, method.path, method.query.map(({ name }) => name).join(' '), kind]
    const secrets = secretsOf(method).join(' ')
    return `    ${propertyName(method.name)}: [${[...row, ...(secrets ? [secrets] : [])].map((one) => `'${one}'`).join(', ')}],\n`
  }
  const table = (methods: readonly Method[]): string =>
    [...Map.groupBy(methods, ({ group }) => group)]
      .map(([group, own]) => `  ${propertyName(group)}: {\n${own.map(rowOf).join('')}  },\n`)
      .join('')
  const methods = methodsOf(api)
  return [
    `${HEADER}import type { OperationTable } from '../management/call-operation.ts'\n`,
    `export const PROJECT_OPERATIONS: OperationTable = {\n${table(methods.filter((one) => one.inProject))}}\n`,
    `export const SERVICE_OPERATIONS: OperationTable = {\n${table(methods.filter((one) => !one.inProject))}}\n`,
  ].join('\n')
}

/** Fields that are shown once and that the SDK would not mask. */
export function unmaskedSecrets(api: OpenApi): string[] {
  const { schemas } = api.components
  return usedSchemas(methodsOf(api), schemas).flatMap((name) =>
    Object.entries(schemas[name]!.properties ?? {})
      .filter(([field, { type }]) => /^(app_token|secret|token)$/.test(field) && type === 'string')
      .filter(([field]) => !SECRETS[name]?.includes(field))
      .map(([field]) => `${name}.${field}`),
  )
}
