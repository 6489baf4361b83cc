import { isDeepStrictEqual } from 'node:util'
import type { Session } from '../call-api.ts'
import { CommandFailure, EXIT } from '../exit.ts'
import { plural } from '../format.ts'
import type { Resource } from '../resolve.ts'
import { type Change, type FieldChange, labelOf, type Match, type Noun, type Plan } from './change.ts'
import {
  type DistributionEntry,
  type KeyEntry,
  type ProjectEntry,
  type WebhookEntry,
  wantedDistribution,
  wantedKey,
  wantedWebhook,
} from './declaration.ts'
import {
  type CurrentDestination,
  type CurrentDistribution,
  type CurrentKey,
  type CurrentProject,
  findProject,
  pathOf,
} from './server-state.ts'

/** Compares the file with the server. It only reads. */
export async function makePlan(
  session: Session,
  projects: readonly ProjectEntry[],
  { prune }: { prune: boolean },
): Promise<Plan> {
  const planner = new Planner(session)
  for (const entry of projects) await planner.addProject(entry)
  return planner.finish(prune)
}

class Planner {
  readonly #session: Session
  readonly #changes: Change[] = []
  readonly #deletions: Change[] = []
  readonly #matches: Match[] = []
  readonly #projectIds = new Map<string, string>()
  readonly #missingCampaigns: { project: string; distribution: string; campaign: string }[] = []
  readonly #notes: string[] = []

  constructor(session: Session) {
    this.#session = session
  }

  finish(prune: boolean): Plan {
    return {
      changes: [...this.#changes, ...(prune ? this.#deletions : [])],
      matches: this.#matches,
      projectIds: this.#projectIds,
      missingCampaigns: this.#missingCampaigns,
      notInFile: prune ? [] : this.#deletions.map(labelOf),
      notes: this.#notes,
    }
  }

  async addProject(entry: ProjectEntry): Promise<void> {
    const { name } = entry
    const found = await findProject(this.#session, name)
    if (found) this.#projectIds.set(name, found.id)
    else
      this.#changes.push({
        action: 'create',
        noun: 'project',
        project: name,
        name,
        fields: [],
        body: { name },
      })
    const current = found ?? {
      id: '',
      name,
      keys: [],
      webhooks: [],
      distributions: [],
      campaignIds: new Map(),
    }
    for (const key of entry.keys ?? []) this.#addKey(current, key)
    const isNamed = ({ name }: WebhookEntry) => Number(Boolean(name))
    const webhooks = [...(entry.webhooks ?? [])].sort((a, b) => isNamed(a) - isNamed(b))
    for (const webhook of webhooks) this.#addWebhook(current, webhook)
    for (const one of entry.distributions ?? []) await this.#addDistribution(current, one)
    this.#addDeletions(current)
  }

  #addKey(project: CurrentProject, entry: KeyEntry): void {
    const found = onlyOne(
      project,
      'key',
      project.keys.filter(({ name }) => name === entry.name),
    )
    this.#compare({ noun: 'key', project: project.name, name: entry.name }, found, wantedKey(entry))
  }

  /** Found by its name. Otherwise one without a name and with this URL, which then gets the name, unless it is taken. */
  #addWebhook(project: CurrentProject, entry: WebhookEntry): void {
    const named = project.webhooks.filter(({ name }) => entry.name && name === entry.name)
    const unnamed = project.webhooks.filter(
      ({ id, name, target_url }) =>
        !name && target_url === entry.target_url && !this.#matches.some((match) => match.id === id),
    )
    const found = onlyOne(project, 'webhook', named.length > 0 ? named : unnamed)
    const name = entry.name ?? entry.target_url
    this.#compare({ noun: 'webhook', project: project.name, name }, found, wantedWebhook(entry))
  }

  async #addDistribution(project: CurrentProject, entry: DistributionEntry): Promise<void> {
    const { name, campaign } = entry
    const found = onlyOne(
      project,
      'distribution',
      project.distributions.filter((one) => one.name === name),
    )
    const which = { noun: 'distribution', project: project.name, name } as const
    if (!project.campaignIds.has(campaign)) {
      this.#missingCampaigns.push({ project: project.name, distribution: name, campaign })
      if (found) this.#match(which, found)
      return
    }
    const headers = entry.headers ?? {}
    const headerChange = await this.#compareHeaders(project, found, headers)
    const more = headerChange ? { fields: [headerChange], body: { headers } } : undefined
    const campaignId = project.campaignIds.get(campaign)
    this.#compare(which, found, wantedDistribution(entry), { more, campaignId })
  }

  #match(which: Pick<Match, 'noun' | 'project' | 'name'>, current: Resource): void {
    this.#matches.push({ ...which, id: String(current.id), current })
  }

  #compare(
    which: Pick<Match, 'noun' | 'project' | 'name'>,
    current: Resource | undefined,
    wanted: Readonly<Record<string, unknown>>,
    {
      more,
      campaignId,
    }: { more?: Pick<Change, 'fields' | 'body'> | undefined; campaignId?: string | undefined } = {},
  ): void {
    if (current) this.#match(which, current)
    const fields = Object.entries(wanted)
      .filter(([field, to]) => (current ? !isSame(current[field], to) : !isEmpty(to)))
      .map(([field, to]) => ({ field, ...(current && { from: current[field] }), to }))
    const body = Object.fromEntries(
      fields.map(({ field, to }) => (field === 'campaign' ? ['campaign_id', campaignId] : [field, to])),
    )
    const all = { fields: [...fields, ...(more?.fields ?? [])], body: { ...body, ...more?.body } }
    if (!current)
      this.#changes.push({
        action: 'create',
        ...which,
        ...all,
        body: { ...nameOf(which, wanted), ...all.body },
      })
    else if (all.fields.length > 0)
      this.#changes.push({ action: 'update', ...which, id: String(current.id), ...all })
  }

  /** The server compares values, because it never shows them. */
  async #compareHeaders(
    project: CurrentProject,
    found: CurrentDistribution | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<FieldChange | undefined> {
    const names = Object.keys(headers).sort()
    const before = Object.keys(found?.headers ?? {}).sort()
    if (!found) return names.length > 0 ? { field: 'headers', to: names } : undefined
    if (!isDeepStrictEqual(names, before)) return { field: 'headers', from: before, to: names }
    const different = names.length > 0 ? await this.#differingHeaders(project, found, headers) : []
    if (different.length === 0) return undefined
    const to = names.map((name) => (different.includes(name) ? `${name} (new value)` : name))
    return { field: 'headers', from: before, to }
  }

  async #differingHeaders(
    project: CurrentProject,
    { id, name }: CurrentDistribution,
    headers: Readonly<Record<string, string>>,
  ): Promise<readonly string[]> {
    try {
      const path = pathOf(project.id, 'distributions', id, 'compare-headers')
      const { json } = await this.#session.call({ method: 'POST', path, body: { headers } })
      return (json as { different: string[] }).different
    } catch (error) {
      if (!(error instanceof CommandFailure && error.status === 403)) throw error
      const label = labelOf({ noun: 'distribution', project: project.name, name })
      this.#notes.push(
        `The header values of ${label} were not compared: that takes an operator of role editor.`,
      )
      return []
    }
  }

  #addDeletions(project: CurrentProject): void {
    const matched = new Set(this.#matches.map(({ id }) => id))
    const add = (noun: Noun, row: CurrentKey | CurrentDestination, stops: string) => {
      const name = row.name ?? String(row.target_url)
      if (!matched.has(row.id))
        this.#deletions.push({
          action: 'delete',
          noun,
          project: project.name,
          name,
          id: row.id,
          fields: [],
          body: {},
          stops,
        })
    }
    for (const key of project.keys) add('key', key, keyStops(key))
    for (const webhook of project.webhooks) add('webhook', webhook, receiverStops(webhook))
    for (const one of project.distributions) add('distribution', one, receiverStops(one))
  }
}

const nameOf = ({ noun, name }: Pick<Match, 'noun' | 'name'>, wanted: Readonly<Record<string, unknown>>) =>
  noun === 'webhook' ? { name: wanted.name } : { name }

function onlyOne<Row extends { readonly id: string; readonly name: string | null }>(
  project: CurrentProject,
  noun: Noun,
  found: readonly Row[],
): Row | undefined {
  if (found.length < 2) return found[0]
  const ids = found.map(({ id }) => id).join(', ')
  const what =
    found[0]!.name === null
      ? 'have the same target_url and no name'
      : `are named ${JSON.stringify(found[0]!.name)}`
  throw new CommandFailure(
    `${found.length} ${plural(noun)} in ${JSON.stringify(project.name)} ${what}: ${ids}. Nothing was changed.\nGive one another name: jeton ${noun} update ${found[0]!.id} --name NAME`,
    EXIT.refused,
  )
}

/** The order of scopes, addresses and kinds means nothing. */
const isSame = (a: unknown, b: unknown): boolean =>
  Array.isArray(a) && Array.isArray(b)
    ? isDeepStrictEqual([...a].sort(), [...b].sort())
    : isDeepStrictEqual(a, b)

const isEmpty = (value: unknown): boolean => value === null || (Array.isArray(value) && value.length === 0)

const keyStops = ({ active_tokens, last_used_at }: CurrentKey): string =>
  `${active_tokens === 1 ? '1 active token stops' : `${active_tokens} active tokens stop`} working immediately; ${last_used_at ? `last used ${last_used_at}` : 'never used'}`

const receiverStops = ({ target_url, health }: CurrentDestination): string =>
  `${target_url} receives no more events; ${health.pending + health.held} waiting deliveries are cancelled`
