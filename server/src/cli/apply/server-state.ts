import type { Session } from '../call-api.ts'
import { type Resource, wholeList } from '../resolve.ts'

export interface CurrentKey extends Resource {
  readonly id: string
  readonly name: string
  readonly state: 'active' | 'blocked'
  readonly active_tokens: number
  readonly last_used_at: string | null
  readonly regenerated_at: string | null
}

/** A webhook or distribution. */
export interface CurrentDestination extends Resource {
  readonly id: string
  readonly name: string | null
  readonly target_url: string
  readonly health: { readonly pending: number; readonly held: number }
}

export interface CurrentDistribution extends CurrentDestination {
  readonly name: string
  /** Name of the campaign; undefined if it was deleted. */
  readonly campaign: string | undefined
  readonly headers: Readonly<Record<string, string>>
}

/** A project with all that a file can describe. */
export interface CurrentProject {
  readonly id: string
  readonly name: string
  readonly keys: readonly CurrentKey[]
  readonly webhooks: readonly CurrentDestination[]
  readonly distributions: readonly CurrentDistribution[]
  /** Ids of loyalty campaigns, by name. */
  readonly campaignIds: ReadonlyMap<string, string>
}

export const pathOf = (projectId: string, ...parts: readonly string[]): string =>
  ['/management/v1/projects', ...[projectId, ...parts].map(encodeURIComponent)].join('/')

/** Reads a list to its end. A row that moves to the next page while it is read is returned once. */
async function listAt<Row extends Resource>(
  session: Session,
  path: string,
  query: Readonly<Record<string, string>> = {},
): Promise<Row[]> {
  const { data } = await wholeList(session, { method: 'GET', path, query })
  return [...new Map(data.map((row) => [row.id, row as Row])).values()]
}

export async function findProject(session: Session, name: string): Promise<CurrentProject | undefined> {
  const [found] = await listAt(session, '/management/v1/projects', { name })
  return found && readProject(session, found)
}

export const listProjects = (session: Session): Promise<Resource[]> =>
  listAt(session, '/management/v1/projects')

export async function readProject(session: Session, project: Resource): Promise<CurrentProject> {
  const id = String(project.id)
  const listOf = <Row extends Resource>(noun: string, query?: Readonly<Record<string, string>>) =>
    listAt<Row>(session, pathOf(id, noun), query)
  const [keys, webhooks, distributions, campaigns] = await Promise.all([
    listOf<CurrentKey>('api-keys'),
    listOf<CurrentDestination>('webhooks'),
    listOf<CurrentDistribution>('distributions'),
    listOf('campaigns', { campaign_type: 'LOYALTY_PROGRAM' }),
  ])
  const names = new Map(campaigns.map((one) => [one.id, String(one.name)]))
  return {
    id,
    name: String(project.name),
    keys,
    webhooks,
    distributions: distributions.map((row) => ({ ...row, campaign: names.get(row.campaign_id) })),
    campaignIds: new Map(campaigns.map((one) => [String(one.name), String(one.id)])),
  }
}
