import type { Attention, Scope } from './attention.ts'
import { destinationRules } from './destinations.ts'
import { keyRules } from './keys.ts'
import { type ServiceState, serviceRules } from './service.ts'
import { tokenRules } from './tokens.ts'
import { proxyRule, refusalRules } from './traffic.ts'

export interface AttentionDeps extends ServiceState {
  /** The time by which tokens expire. */
  readonly tokenTime: () => number
  /** Adds what this process has counted. */
  readonly writeUsage: () => Promise<void>
}

async function projectRules({ writeUsage }: AttentionDeps, scope: Scope): Promise<Attention[]> {
  // The list matters most when the database accepts no writes.
  await writeUsage().catch(() => undefined)
  const rules = [destinationRules, tokenRules, keyRules, refusalRules]
  return (await Promise.all(rules.map((rule) => rule(scope)))).flat()
}

export const listProjectAttention = (deps: AttentionDeps, projectId: string): Promise<Attention[]> =>
  projectRules(deps, { db: deps.db, projectId, now: deps.tokenTime() })

/** Problems of all projects and of the service itself. */
export async function listAttention(deps: AttentionDeps): Promise<Attention[]> {
  const scope = { db: deps.db, projectId: undefined, now: deps.tokenTime() }
  return (await Promise.all([projectRules(deps, scope), proxyRule(scope), serviceRules(deps)])).flat()
}
