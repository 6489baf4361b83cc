import { EVENT_KIND_VALUES, type EventKindName, eventKindOf } from '../../contract/event-kinds.ts'
import type { Catalogue } from '../operations.ts'

/** One project of the file. A field that is left out has the default of the API, except `state` and `active`. */
export interface ProjectEntry {
  readonly name: string
  readonly keys?: readonly KeyEntry[]
  readonly webhooks?: readonly WebhookEntry[]
  readonly distributions?: readonly DistributionEntry[]
}

export interface KeyEntry {
  readonly name: string
  readonly permissions: readonly string[]
  readonly ip_whitelist?: readonly string[]
  readonly token_limit?: number | null
  /** Left out: unchanged, so that a key that was blocked after a leak stays blocked. */
  readonly state?: 'active' | 'blocked'
}

interface Subscription {
  readonly target_url: string
  readonly events?: readonly EventKindName[]
  /** Left out: unchanged, so that a receiver that Jeton disabled stays disabled. */
  readonly active?: boolean
  readonly description?: string | null
}

export interface WebhookEntry extends Subscription {
  readonly name?: string | null
}

export interface DistributionEntry extends Subscription {
  readonly name: string
  /** Name of a loyalty campaign. */
  readonly campaign: string
  readonly event_name?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

/** A header value in the file: `${NAME}`, or a scheme before it. Literal values would put secrets into version control. */
export const HEADER_VALUE = /^(?<scheme>[A-Za-z][\w.-]* )?\$\{(?<variable>[A-Za-z_]\w*)\}$/
const HEADER_TEXT =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the syntax of the file
  'must come from the environment: write ${CRM_TOKEN}, or Bearer ${CRM_TOKEN}'

const strict = (properties: object, required: readonly string[]) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
})
const listOf = (items: object) => ({ type: 'array', items })

/** JSON Schema of the file, made of the schemas of the API, so that both accept the same values. */
export function declarationSchema(catalogue: Catalogue): object {
  const create = (noun: string) => catalogue.find(noun, 'create')!.body!
  const { campaign_id, headers, ...distribution } = create('distribution').properties!
  const State = { type: 'string', enum: ['active', 'blocked'] }
  const Headers = {
    ...headers,
    additionalProperties: { type: 'string', pattern: HEADER_VALUE.source, 'x-says': HEADER_TEXT },
  }
  const key = strict({ ...create('key').properties, state: State }, ['name', 'permissions'])
  const webhook = strict(create('webhook').properties!, ['target_url', 'events'])
  const project = {
    name: create('project').properties!.name,
    keys: listOf(key),
    webhooks: listOf(webhook),
    distributions: listOf(
      strict({ ...distribution, campaign: campaign_id, headers: Headers }, [
        'name',
        'campaign',
        'target_url',
      ]),
    ),
  }
  return strict({ projects: listOf(strict(project, ['name'])) }, ['projects'])
}

const kindsOf = (events: readonly EventKindName[] = EVENT_KIND_VALUES) => [
  ...new Set(events.map(eventKindOf)),
]

const subscriptionOf = ({ target_url, events, active, description = null }: Subscription) => ({
  target_url,
  events: kindsOf(events),
  description,
  ...(active !== undefined && { active }),
})

/** The values that the fields of an entry should have. */
export const wantedKey = ({ permissions, ip_whitelist = [], token_limit = null, state }: KeyEntry) => ({
  permissions: [...new Set(permissions)],
  ip_whitelist,
  token_limit,
  ...(state && { state }),
})

export const wantedWebhook = (entry: WebhookEntry) => ({ name: entry.name ?? null, ...subscriptionOf(entry) })

/** Without `headers`, whose stored values cannot be read. */
export const wantedDistribution = (entry: DistributionEntry) => ({
  campaign: entry.campaign,
  ...subscriptionOf(entry),
  event_name: entry.event_name ?? null,
})
