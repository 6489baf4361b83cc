import type { ApiRequest } from './call-api.ts'
import { wrongUsage } from './exit.ts'
import { asSent, dataOf, fieldsOf, flagOf, givenFor, type Options } from './fields.ts'
import type { Operation } from './operations.ts'
import { projectId, resolveReference, tokenReference } from './resolve.ts'
import type { Session } from './session.ts'

/** Fields that have a default in the API and must be given here: nobody makes a key for everything by accident. */
const ALSO_REQUIRED: Readonly<Record<string, readonly string[]>> = { 'key.create': ['permissions'] }

export const requiredOf = ({ noun, verb, body }: Operation): readonly string[] => [
  ...(body?.required ?? []),
  ...(ALSO_REQUIRED[`${noun}.${verb}`] ?? []),
]

export interface Typed {
  /** What names the resource, where the operation is about one. */
  readonly reference: string | undefined
  readonly options: Options
}

/** What was typed, as a request. Names become ids on the way, which may take requests of its own. */
export async function requestOf(session: Session, operation: Operation, typed: Typed): Promise<ApiRequest> {
  const body = await bodyOf(session, operation, typed.options)
  const token =
    operation.noun === 'token' && typed.reference ? await tokenReference(typed.reference) : undefined
  const project = operation.inProject ? (token?.projectId ?? (await projectId(session))) : undefined
  const { noun } = operation
  const id =
    typed.reference &&
    (token?.id ?? (await resolveReference(session, { noun, typed: typed.reference, projectId: project })))
  const query = await queryOf(session, operation, { options: typed.options, project })
  return { method: operation.method, path: pathOf(operation, { project, id }), query, body }
}

function pathOf(
  { path, ownParam }: Operation,
  { project, id }: { project: string | undefined; id: string | undefined },
): string {
  const own = ownParam && id ? path.replace(`{${ownParam}}`, encodeURIComponent(id)) : path
  return project ? own.replace('{project_id}', encodeURIComponent(project)) : own
}

async function bodyOf({ io }: Session, operation: Operation, options: Options): Promise<unknown> {
  const { body, method, noun, verb } = operation
  if (!body || method === 'DELETE') return undefined
  const given = typeof options.data === 'string' ? await dataOf(io, options.data) : {}
  for (const field of fieldsOf(body)) {
    const value = asSent(field, givenFor(options, field), io.now())
    if (value !== undefined) given[field.name] = value
  }
  const missing = requiredOf(operation).filter((name) => given[name] === undefined)
  if (missing.length > 0)
    throw wrongUsage(
      `Missing required flag${missing.length > 1 ? 's' : ''}: ${missing.map(flagOf).join(', ')}. See: jeton ${noun} ${verb} --help`,
    )
  if (Object.keys(given).length < (body.minProperties ?? 0))
    throw wrongUsage(
      `Nothing to ${verb}. Give at least one of: ${fieldsOf(body)
        .map(({ name }) => flagOf(name))
        .join(', ')}.`,
    )
  return given
}

/** A filter that is called like a noun takes what the noun takes: `--key Quickstart`. */
async function queryOf(
  session: Session,
  operation: Operation,
  { options, project }: { options: Options; project: string | undefined },
): Promise<Record<string, string>> {
  const query: Record<string, string> = {}
  for (const field of operation.query) {
    const { name } = field
    const value = asSent(field, givenFor(options, field), session.io.now())
    if (value === undefined) continue
    const isNoun = session.catalogue.nouns.includes(name)
    query[name] = isNoun
      ? await resolveReference(session, { noun: name, typed: String(value), projectId: project })
      : String(value)
  }
  return query
}
