import { stringify } from 'yaml'
import { wireOf } from '../../contract/event-kinds.ts'
import { openSession } from '../call-api.ts'
import type { ConnectionOptions } from '../connection.ts'
import { CommandFailure, EXIT } from '../exit.ts'
import { shellWord } from '../format.ts'
import type { Io } from '../io.ts'
import { resolveReference } from '../resolve.ts'
import {
  type CurrentDestination,
  type CurrentDistribution,
  type CurrentKey,
  type CurrentProject,
  listProjects,
  readProject,
} from './server-state.ts'

export interface ExportOptions extends ConnectionOptions {
  readonly project?: readonly string[]
}

/** Writes what the server has as a file for `jeton apply`. Names order it, so that equal configurations are equal files. */
export async function exportDeclaration(io: Io, options: ExportOptions): Promise<void> {
  const { project: names = [], ...connection } = options
  const session = openSession(io, connection)
  const ids = await Promise.all(names.map((typed) => resolveReference(session, { noun: 'project', typed })))
  const all = (await listProjects(session)).filter(({ id }) => ids.length === 0 || ids.includes(String(id)))
  const unknown = ids.find((id) => !all.some((one) => one.id === id))
  if (unknown)
    throw new CommandFailure(`There is no project ${unknown}. See: jeton project list`, EXIT.notFound)
  const projects = []
  const variables = new Set<string>()
  for (const found of all.sort(byName))
    projects.push(projectEntry(await readProject(session, found), variables))
  io.stdout.write(HEADING + stringify({ projects }, { lineWidth: 0, aliasDuplicateObjects: false }))
}

const HEADING = `# Written by jeton export. Secrets are not in it: keys, webhooks and distributions that apply creates get new ones.
# Values of headers come from the environment. Set the variables before you apply.
`

const byName = (a: { name?: unknown; target_url?: unknown }, b: typeof a): number => {
  const [one, other] = [a, b].map(({ name, target_url }) => `${name ?? ''}\n${target_url ?? ''}`)
  return one! < other! ? -1 : Number(one! > other!)
}

function projectEntry(project: CurrentProject, variables: Set<string>) {
  for (const noun of ['key', 'webhook', 'distribution'] as const) refuseDuplicates(project, noun)
  return {
    name: project.name,
    keys: [...project.keys].sort(byName).map(keyEntry),
    webhooks: [...project.webhooks].sort(byName).map(webhookEntry),
    distributions: [...project.distributions]
      .sort(byName)
      .map((one) => distributionEntry(project, one, variables)),
  }
}

/** Apply identifies them by name, so the file could not be applied. */
function refuseDuplicates(project: CurrentProject, noun: 'key' | 'webhook' | 'distribution'): void {
  const rows: readonly { id: string; name: string | null; target_url?: unknown }[] = project[`${noun}s`]
  const [twice] = [
    ...Map.groupBy(rows, ({ name, target_url }) => name ?? `unnamed ${target_url}`).values(),
  ].filter((found) => found.length > 1)
  if (!twice) return
  const what =
    twice[0]!.name === null
      ? 'with the same target_url have no name'
      : `are named ${JSON.stringify(twice[0]!.name)}`
  throw new CommandFailure(
    `${twice.length} ${noun}s in ${JSON.stringify(project.name)} ${what}, and apply identifies them by name.\nGive one another name: jeton ${noun} update ${twice[0]!.id} --name NAME --project ${shellWord(project.name)}`,
    EXIT.refused,
  )
}

const keyEntry = ({ name, permissions, ip_whitelist, token_limit, state }: CurrentKey) =>
  withoutDefaults({ name, permissions, ip_whitelist, token_limit, state: state === 'blocked' ? state : null })

const webhookEntry = ({ name, target_url, events, active, description }: CurrentDestination) =>
  withoutDefaults({
    name,
    target_url,
    events: (events as never[]).map(wireOf),
    active: active === false ? false : null,
    description,
  })

function distributionEntry(project: CurrentProject, row: CurrentDistribution, variables: Set<string>) {
  if (row.campaign === undefined)
    throw new CommandFailure(
      `The campaign of distribution ${JSON.stringify(row.name)} in ${JSON.stringify(project.name)} was deleted.\nDelete the distribution: jeton distribution delete ${row.id} --project ${shellWord(project.name)}`,
      EXIT.refused,
    )
  const headers = Object.keys(row.headers)
    .sort()
    .map((name) => [name, `\${${variableFor([project.name, row.name, name], variables)}}`])
  const { name, ...rest } = webhookEntry(row)
  return withoutDefaults({
    name,
    campaign: row.campaign,
    ...rest,
    event_name: row.event_name,
    headers: headers.length > 0 ? Object.fromEntries(headers) : null,
  })
}

/** Fields that are left out have the default. */
const withoutDefaults = (fields: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
    ),
  )

/** `CLUB_CRM_AUTHORIZATION`, and a number if another header already has that name. */
function variableFor(parts: readonly string[], taken: Set<string>): string {
  const plainName = parts
    .map((part) => part.toUpperCase().replace(/[^A-Z0-9]+/g, '_'))
    .join('_')
    .replace(/^(?=\d)/, '_')
  let name = plainName
  for (let i = 2; taken.has(name); i++) name = `${plainName}_${i}`
  taken.add(name)
  return name
}
