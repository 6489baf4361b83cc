/**
 * The 42 scopes and the first path segment that each one covers. Case matters: it is `SKUs` in a scope and `skus` in a path.
 * `api` covers all paths under `/v1/`, and `client_api` all under `/client/v1/`.
 */
export type Side = 'server' | 'client'

interface ScopeRow {
  readonly side: Side
  /** First segment after `/v1/` or `/client/v1/`. `*` covers all segments, listed here or not. */
  readonly segment: string
}

export const SCOPES = {
  api: { side: 'server', segment: '*' },
  assets: { side: 'server', segment: 'assets' },
  'async-actions': { side: 'server', segment: 'async-actions' },
  campaigns: { side: 'server', segment: 'campaigns' },
  categories: { side: 'server', segment: 'categories' },
  client_api: { side: 'client', segment: '*' },
  client_consents: { side: 'client', segment: 'consents' },
  client_customers: { side: 'client', segment: 'customers' },
  client_events: { side: 'client', segment: 'events' },
  client_promotions: { side: 'client', segment: 'promotions' },
  client_publish: { side: 'client', segment: 'publish' },
  client_qualifications: { side: 'client', segment: 'qualifications' },
  client_redeem: { side: 'client', segment: 'redeem' },
  client_redemptions: { side: 'client', segment: 'redemptions' },
  client_validate: { side: 'client', segment: 'validate' },
  client_validations: { side: 'client', segment: 'validations' },
  client_vouchers: { side: 'client', segment: 'vouchers' },
  consents: { side: 'server', segment: 'consents' },
  customers: { side: 'server', segment: 'customers' },
  events: { side: 'server', segment: 'events' },
  exports: { side: 'server', segment: 'exports' },
  locations: { side: 'server', segment: 'locations' },
  loyalties: { side: 'server', segment: 'loyalties' },
  'metadata-schemas': { side: 'server', segment: 'metadata-schemas' },
  orders: { side: 'server', segment: 'orders' },
  'product-collections': { side: 'server', segment: 'product-collections' },
  products: { side: 'server', segment: 'products' },
  promotions: { side: 'server', segment: 'promotions' },
  publications: { side: 'server', segment: 'publications' },
  qualifications: { side: 'server', segment: 'qualifications' },
  redemptions: { side: 'server', segment: 'redemptions' },
  referrals: { side: 'server', segment: 'referrals' },
  rewards: { side: 'server', segment: 'rewards' },
  segments: { side: 'server', segment: 'segments' },
  SKUs: { side: 'server', segment: 'skus' },
  'task-results': { side: 'server', segment: 'task-results' },
  templates: { side: 'server', segment: 'templates' },
  'trash-bin': { side: 'server', segment: 'trash-bin' },
  'validation-rules-assignments': { side: 'server', segment: 'validation-rules-assignments' },
  'validation-rules': { side: 'server', segment: 'validation-rules' },
  validations: { side: 'server', segment: 'validations' },
  vouchers: { side: 'server', segment: 'vouchers' },
} as const satisfies Record<string, ScopeRow>

export type Scope = keyof typeof SCOPES

export const SCOPE_VALUES = Object.keys(SCOPES) as Scope[]

export const isScope = (value: string): value is Scope => Object.hasOwn(SCOPES, value)

const wildcardScope = (side: Side): Scope => (side === 'server' ? 'api' : 'client_api')

/** `api` or `client_api`: the scope that covers this one and all others of its side. */
export const wildcardScopeOf = (scope: Scope): Scope => wildcardScope(SCOPES[scope].side)

/** True if the scopes `held` cover the scope `needed`. */
export const covers = (held: readonly string[], needed: Scope): boolean =>
  held.includes(needed) || held.includes(wildcardScopeOf(needed))

const segmentsOf = (side: Side) =>
  new Map<string, Scope>(
    SCOPE_VALUES.filter((scope) => SCOPES[scope].side === side).map((scope) => [
      SCOPES[scope].segment,
      scope,
    ]),
  )

const bySegment = { server: segmentsOf('server'), client: segmentsOf('client') }

/** Scope of a first path segment; `api` or `client_api` for a segment that is not listed. */
export const scopeOfSegment = (side: Side, segment: string): Scope =>
  bySegment[side].get(segment) ?? wildcardScope(side)

/** Scope of an API path, `/v1/<segment>…` or `/client/v1/<segment>…`; null for any other path. */
export function scopeOfPath(path: string): Scope | null {
  const match = /^(\/client)?\/v1(?:\/([^/]*)|$)/.exec(path)
  if (!match) return null
  return scopeOfSegment(match[1] === undefined ? 'server' : 'client', match[2] ?? '')
}

/** All scopes that a key with these permissions can request. */
export const coveredBy = (permissions: readonly string[]): Scope[] =>
  SCOPE_VALUES.filter((scope) => covers(permissions, scope))
