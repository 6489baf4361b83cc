import { CREDENTIAL_PREFIX, ID_PREFIX, tokenIdOf } from '../contract/ids.ts'
import { didYouMean } from '../platform/closest.ts'
import type { ApiRequest, Session } from './call-api.ts'
import { CommandFailure, EXIT, wrongUsage } from './exit.ts'
import { plural, shellWord } from './format.ts'
import { entryOf, type Operation } from './operations.ts'

export type Resource = Readonly<Record<string, unknown>>

export interface List {
  readonly data: readonly Resource[]
  /** The name of the field that has the entries: `data`, or another one in lists for API clients. */
  readonly data_ref?: string
  readonly total: number
  readonly next_cursor?: string | null
}

const fieldOf = ({ data_ref = 'data' }: List): string => data_ref

export const entriesOf = (list: List): readonly Resource[] =>
  (list as unknown as Record<string, Resource[]>)[fieldOf(list)]!

const MAX_LIMIT = 100
/** The last page of a list. */
const END = { next_cursor: null, has_more: false }

/** Reads every page of a list, by cursor if the list has one. */
export async function wholeList(session: Session, request: ApiRequest): Promise<List> {
  const data: Resource[] = []
  let query: Record<string, string> = { ...request.query, limit: String(MAX_LIMIT) }
  for (let page = 1; ; page++) {
    const list = (await session.call({ ...request, query })).json as List
    const entries = entriesOf(list)
    data.push(...entries)
    // With a cursor, `total` may be capped below the length of the list.
    const ended = !list.next_cursor && data.length >= list.total
    if (ended || entries.length < MAX_LIMIT) return { ...list, [fieldOf(list)]: data, ...END }
    query = { ...query, ...(list.next_cursor ? { cursor: list.next_cursor } : { page: String(page + 1) }) }
  }
}

export async function firstPage(session: Session, request: ApiRequest): Promise<List> {
  return (await session.call({ ...request, query: { ...request.query, limit: String(MAX_LIMIT) } }))
    .json as List
}

/** An id or name as typed, and the project to search. */
interface Reference {
  readonly noun: string
  readonly typed: string
  readonly projectId?: string | undefined
}

/** Prefixes by which ids are recognized without a request. Other nouns are searched in their list. */
const PREFIXES: Readonly<Record<string, string>> = { ...ID_PREFIX, key: ID_PREFIX.api_key }
/** Fields that identify a resource. */
const IDENTITIES = ['id', 'app_id', 'client_id']
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const isId = ({ noun, typed }: Reference): boolean =>
  PREFIXES[noun] !== undefined &&
  typed.startsWith(PREFIXES[noun]) &&
  /^[A-Za-z0-9]{16,}$/.test(typed.slice(PREFIXES[noun].length))

/** The id for what was typed: an id, an app id, or a unique name. */
export async function resolveReference(session: Session, reference: Reference): Promise<string> {
  const list = session.catalogue.find(reference.noun, 'list')
  if (isId(reference) || !list || !entryOf(list)?.properties?.name) return reference.typed
  const entries = await search(session, list, reference)
  const byIdentity = entries.filter((entry) => IDENTITIES.some((name) => entry[name] === reference.typed))
  const found = byIdentity.length > 0 ? byIdentity : entries.filter((entry) => entry.name === reference.typed)
  if (found.length > 1) throw ambiguous(reference, found)
  return found[0] ? String(found[0].id) : notFound(session, list, reference)
}

const requestFor = (list: Operation, { projectId }: Reference) => ({
  method: list.method,
  path: list.path.replace('{project_id}', encodeURIComponent(projectId ?? '')),
})

async function search(session: Session, list: Operation, reference: Reference): Promise<readonly Resource[]> {
  const byName = list.query.some(({ name }) => name === 'name') && !UUID.test(reference.typed)
  const query: Record<string, string> = byName ? { name: reference.typed } : {}
  return (await wholeList(session, { ...requestFor(list, reference), query })).data
}

const described = ({ id, name, state, created_at }: Resource): string =>
  `  ${[id, name, state, created_at].filter(Boolean).join('  ')}`

function ambiguous({ noun, typed }: Reference, found: readonly Resource[]): CommandFailure {
  return wrongUsage(
    `${found.length} ${plural(noun)} are named ${JSON.stringify(typed)}. Use an id:\n${found.map(described).join('\n')}`,
  )
}

async function notFound(session: Session, list: Operation, reference: Reference): Promise<never> {
  const { noun, typed } = reference
  const names = (await firstPage(session, requestFor(list, reference))).data.map((entry) =>
    String(entry.name),
  )
  const hint = didYouMean(typed, names) || ` See: jeton ${noun} list`
  throw new CommandFailure(`There is no ${noun} ${JSON.stringify(typed)}.${hint}`, EXIT.notFound)
}

/** `--project`, JETON_PROJECT or the profile. */
export const chosenProject = ({ project, io, connection }: Session): string | undefined =>
  project || io.env.JETON_PROJECT || connection.defaultProject

/** The name of a project, or its id if it cannot be read. */
export async function projectName({ call }: Session, id: string): Promise<string> {
  try {
    const path = `/management/v1/projects/${encodeURIComponent(id)}`
    return String(((await call({ method: 'GET', path })).json as Resource).name)
  } catch (error) {
    if (error instanceof CommandFailure) return id
    throw error
  }
}

/** The id of the chosen project, or of the only one. */
export async function projectId(session: Session): Promise<string> {
  const typed = chosenProject(session)
  if (typed) return resolveReference(session, { noun: 'project', typed })
  const list = session.catalogue.find('project', 'list')!
  const { data } = await firstPage(session, requestFor(list, { noun: 'project', typed: '' }))
  if (data.length === 1) return String(data[0]!.id)
  if (data.length === 0)
    throw new CommandFailure(
      'There is no project yet. Create one: jeton project create --name Club',
      EXIT.notFound,
    )
  throw wrongUsage(
    `Which project? Pass --project, or set a default: jeton project use ${shellWord(String(data[0]!.name))}\n${data.map(described).join('\n')}`,
  )
}

/** Reads project and id out of a token, which is not sent anywhere. */
export async function tokenReference(typed: string): Promise<{ projectId: string; id: string } | undefined> {
  if (!typed.startsWith(CREDENTIAL_PREFIX.access_token)) return undefined
  const { parseAccessToken } = await import('../features/tokens/index.ts')
  const locator = parseAccessToken(typed)
  if (!locator) throw wrongUsage('This token is incomplete: its length or checksum is wrong.')
  return { projectId: locator.projectId, id: tokenIdOf(locator.digest) }
}
