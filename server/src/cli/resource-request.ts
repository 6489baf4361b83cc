import type { ApiRequest, Session } from './call-api.ts'
import { CommandFailure, EXIT, wrongUsage } from './exit.ts'
import { asSent, dataOf, fieldsOf, flagFor, flagOf, givenFor, type Options } from './fields.ts'
import type { Io } from './io.ts'
import type { Field, Operation } from './operations.ts'
import { projectId, type Resource, resolveReference, tokenReference } from './resolve.ts'

/** Optional in the API but required here, so that nobody creates a key with all permissions by accident. */
const ALSO_REQUIRED: Readonly<Record<string, readonly string[]>> = { 'key.create': ['permissions'] }

export const requiredOf = ({ noun, verb, body }: Operation): readonly string[] => [
  ...(body?.required ?? []),
  ...(ALSO_REQUIRED[`${noun}.${verb}`] ?? []),
]

export interface Typed {
  /** Id or name of the resource, if the operation is about one. */
  readonly reference: string | undefined
  readonly options: Options
}

/** Turns the arguments into a request. Resolving names to ids may take further requests. */
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
  const path = pathOf(operation, { project, id, options: typed.options })
  const credential = operation.asClient ? {} : undefined
  return { method: operation.method, path, query, body, credential }
}

/** `--campaign` for `campaignId`. */
export const pathFlagOf = (parameter: string): string => parameter.replace(/Id$/, '')

function pathOf(
  { path, ownParam, pathFlags }: Operation,
  { project, id, options }: { project: string | undefined; id: string | undefined; options: Options },
): string {
  const values: Record<string, unknown> = { project_id: project }
  if (ownParam && id) values[ownParam] = id
  for (const name of pathFlags) values[name] = options[pathFlagOf(name)]
  return path.replace(/\{(\w+)\}/g, (whole, name: string) =>
    values[name] === undefined ? whole : encodeURIComponent(String(values[name])),
  )
}

async function bodyOf(session: Session, operation: Operation, options: Options): Promise<unknown> {
  const { io } = session
  const { body, method, noun, verb } = operation
  if (!body || method === 'DELETE') return undefined
  const given = typeof options.data === 'string' ? await dataOf(io, options.data) : {}
  for (const field of fieldsOf(body)) {
    const value = asSent(field, givenFor(options, field), io.now())
    if (value !== undefined) given[field.name] = await withIds(session, field, value)
  }
  const missing = requiredOf(operation).filter((name) => given[name] === undefined)
  if (missing.length > 0)
    throw wrongUsage(
      `Missing required flag${missing.length > 1 ? 's' : ''}: ${missing.map(flagOf).join(', ')}. See: jeton ${noun} ${verb} --help`,
    )
  if (Object.keys(given).length < (body.minProperties ?? 0))
    throw wrongUsage(`Nothing to ${verb}. Pass at least one of: ${fieldsOf(body).map(flagFor).join(', ')}.`)
  return given
}

/** Replaces names by ids in a list of ids. */
async function withIds(session: Session, { schema }: Field, value: unknown): Promise<unknown> {
  const noun = schema['x-noun']
  if (noun === undefined || !Array.isArray(value)) return value
  return Promise.all(value.map((typed: string) => resolveReference(session, { noun, typed })))
}

/** A filter named after a noun takes an id or a name: `--key Quickstart`. */
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

export const isDestructive = ({ verb }: Operation): boolean => verb === 'delete'

/** Checked before any request, so that a script does not fail half-way. */
export function refuseUnattended(io: Io, yes: boolean): void {
  if (!yes && !io.ask) throw wrongUsage('Refusing to delete without confirmation (no terminal). Pass --yes.')
}

/** Asks before something is deleted. If the API requires the name again, so does the prompt; `--yes` fills it in. */
export async function confirmed(
  session: Session,
  operation: Operation,
  { request, yes }: { request: ApiRequest; yes: boolean },
): Promise<ApiRequest> {
  const repeatsName = operation.body?.properties?.name !== undefined
  if (yes && !repeatsName) return request
  const resource = (await session.call({ method: 'GET', path: request.path })).json as Resource
  const name = String(resource.name ?? resource.id)
  if (!yes) await askToDelete(session.io, { noun: operation.noun, name, repeatsName })
  return repeatsName ? { ...request, body: { name } } : request
}

/** Consequences of deleting, for the prompt. */
const CONSEQUENCES: Readonly<Record<string, string>> = {
  project: 'Its keys and tokens stop working immediately, and its data is deleted.',
  key: 'Its tokens stop working immediately.',
  operator: 'Its token stops working immediately.',
  webhook: 'It receives no more events.',
  distribution: 'It receives no more events.',
}

async function askToDelete(
  io: Io,
  { noun, name, repeatsName }: { noun: string; name: string; repeatsName: boolean },
): Promise<void> {
  const what = `Delete ${noun === 'key' ? 'API key' : noun} ${JSON.stringify(name)}?`
  const how = repeatsName ? 'Type its name to confirm: ' : '[y/N] '
  const answer = await io.ask!([what, CONSEQUENCES[noun], how].filter(Boolean).join(' '))
  const agreed = repeatsName ? answer === name : /^y(es)?$/i.test(answer)
  if (!agreed) throw new CommandFailure('Nothing was deleted.', EXIT.refused)
}
