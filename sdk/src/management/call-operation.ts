import { bodyOf, errorOf, type Fetch, readJson, sendRequest } from '../send-request.ts'
import { createList, pagingOf } from './list.ts'
import { Secret } from './secret.ts'

/** Method, path, names of query parameters, kind of answer, and fields that are secrets. */
export type OperationRow = readonly [
  method: string,
  path: string,
  query: string,
  answer: string,
  secrets?: string,
]

export type OperationTable = Readonly<Record<string, Readonly<Record<string, OperationRow>>>>

export interface Connection {
  readonly baseUrl: string | URL
  readonly id: string
  readonly token: string
  readonly timeoutMs: number
  readonly fetch?: Fetch | undefined
}

type Input = Readonly<Record<string, unknown>>

const textOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value))

/** Fills the path with ids, in order. An empty id would name another resource. */
function fillPath(path: string, ids: readonly unknown[]): string {
  let index = 0
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const id = ids[index++]
    if (typeof id !== 'string' || id === '' || id === '.' || id === '..')
      throw new TypeError(`${name} is required.`)
    return encodeURIComponent(id)
  })
}

async function send(
  connection: Connection,
  method: string,
  { path, query, body }: { path: string; query: Record<string, string>; body: Input | undefined },
): Promise<Response> {
  const search = new URLSearchParams(query).toString()
  const headers: Record<string, string> = {
    'x-management-id': connection.id,
    'x-management-token': connection.token,
    ...(body && { 'content-type': 'application/json' }),
  }
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
  return sendRequest({ ...connection, path: `/management/v1${path}${search && `?${search}`}`, init })
}

function split(
  input: Input,
  names: readonly string[],
): { query: Record<string, string>; body: Input | undefined } {
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  const query = given.filter(([name]) => names.includes(name)).map(([name, value]) => [name, textOf(value)])
  const body = given.filter(([name]) => !names.includes(name))
  return { query: Object.fromEntries(query), body: body.length > 0 ? Object.fromEntries(body) : undefined }
}

function masked(answer: unknown, secrets: string | undefined): unknown {
  const fields = { ...(answer as Record<string, unknown>) }
  for (const name of secrets?.split(' ') ?? []) fields[name] = new Secret(String(fields[name]))
  return fields
}

/** Returns the method of the client for a row of the table. */
function methodFor(connection: Connection, prefix: string, row: OperationRow) {
  const [method, path, queryNames, answer, secrets] = row
  const names = queryNames.split(' ')
  const idCount = path.match(/\{/g)?.length ?? 0
  return (...given: readonly unknown[]) => {
    const full = prefix + fillPath(path, given)
    const { query, body } = split((given[idCount] ?? {}) as Input, names)
    const request = (more: Record<string, string> = {}) =>
      send(connection, method, { path: full, query: { ...query, ...more }, body })
    if (answer === 'list')
      return createList(pagingOf(names), async (more) => (await readJson(await request(more))) as never)
    return answer === 'json'
      ? request()
          .then(readJson)
          .then((found) => masked(found, secrets))
      : request().then(ignore)
  }
}

async function ignore(response: Response): Promise<void> {
  if (!response.ok) throw errorOf(response, await bodyOf(response))
  await response.body?.cancel()
}

/** Creates the groups of methods of a table. */
export const clientOf = (connection: Connection, prefix: string, table: OperationTable): object =>
  Object.fromEntries(
    Object.entries(table).map(([group, rows]) => [
      group,
      Object.fromEntries(
        Object.entries(rows).map(([name, row]) => [name, methodFor(connection, prefix, row)]),
      ),
    ]),
  )
