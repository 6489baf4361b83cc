import { createApiKeyIn } from '../features/api-keys/index.ts'
import { countOperators, createLoginCode, createOperatorIn } from '../features/operators/index.ts'
import { countProjects, createProjectIn } from '../features/projects/index.ts'
import { isLoopbackHost } from '../platform/addresses.ts'
import type { Config } from '../platform/config/index.ts'
import type { Database } from '../platform/database/index.ts'
import type { Actor } from '../platform/http/index.ts'
import { randomBytes } from '../platform/secrets.ts'
import { makeSampleLoyalty } from './sample-loyalty.ts'

export const SAMPLE_PROJECT = 'Sample'
export const SAMPLE_KEY = 'Quickstart'

const ACTOR: Actor = { type: 'system', id: 'first-start', address: null, requestId: null }

export interface FirstStart {
  /** Created only if the settings contain none. */
  readonly operator?: { readonly id: string; readonly token: string }
  readonly sample?: {
    readonly projectId: string
    readonly appId: string
    readonly appToken: string
    /** Code of a card with points. */
    readonly member: string
    readonly rewardId: string
  }
}

/** Longer than the link of `jeton console`: at a first start there is more to read. */
const LINK_MS = 15 * 60_000

/** A link that signs a browser in once, as the operator that this start created. */
export async function createConsoleLink(
  db: Database,
  { id, token }: NonNullable<FirstStart['operator']>,
  managementUrl: string,
): Promise<string> {
  const request = { actor: { ...ACTOR, type: 'operator', id } as const, token, lifetimeMs: LINK_MS }
  const { code } = await createLoginCode({ db, random: randomBytes }, request)
  return `${managementUrl}/console/#code=${code}`
}

/** Creates secrets automatically only where nobody else can see them: SQLite on a loopback address. */
export const canCreateSample = (config: Config): boolean =>
  config.JETON_DATABASE_URL === undefined && isLoopbackHost(config.JETON_HOST)

/**
 * Fills an empty store: an operator, if the settings contain none, and a sample project with a key, a customer and a
 * reward. It is one transaction, so if two processes start together, one does it.
 */
export async function createSample(db: Database, config: Config): Promise<FirstStart> {
  if (!canCreateSample(config)) return {}
  return db.transaction(async (tx) => {
    const deps = { random: randomBytes }
    const hasProjects = (await countProjects(tx)) > 0
    const needsOperator = (await countOperators(tx)) === 0 && !hasProjects
    const operator = needsOperator
      ? await createOperatorIn(deps, tx, { name: 'first', role: 'admin', projects: null, actor: ACTOR })
      : undefined
    const wantsSample =
      !hasProjects &&
      config.JETON_SAMPLE === 'on' &&
      (operator !== undefined || config.JETON_MANAGEMENT_ID !== undefined)
    if (!wantsSample) return operator ? { operator } : {}
    const project = await createProjectIn(deps, tx, { name: SAMPLE_PROJECT, actor: ACTOR })
    const { row, appToken } = await createApiKeyIn(deps, tx, {
      projectId: project.id,
      name: SAMPLE_KEY,
      actor: ACTOR,
    })
    const loyalty = await makeSampleLoyalty(deps, tx, project.id)
    const sample = { projectId: project.id, appId: row.app_id, appToken, ...loyalty }
    return operator ? { operator, sample } : { sample }
  })
}
