import { PROJECT_TOKEN_LIMIT } from '../../contract/limits.ts'
import { Problem } from '../../contract/problem.ts'
import { ownText } from '../../platform/own-text.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import type { CachedKey } from './cached-key.ts'
import type { IssueOutcome } from './issue.ts'
import type { IssueBatcher } from './issue-batcher.ts'
import { grantScope } from './scope.ts'
import { newToken } from './token.ts'
import type { TokenCache } from './token-cache.ts'

export interface IssueDeps {
  readonly tokenCache: TokenCache
  readonly issueBatcher: IssueBatcher
  readonly random: RandomBytes
  readonly projectName: (projectId: string) => Promise<string>
}

export interface IssuedToken {
  readonly accessToken: string
  readonly key: CachedKey
  readonly scope: string
  readonly expiresAt: number
}

interface Request {
  readonly key: CachedKey
  readonly scope: string | undefined
  readonly authenticateAgain: () => Promise<CachedKey>
}

/** A key that changes faster than it can be read is being played with. */
const TRIES = 5

/**
 * Issues one token, as part of a batch. The batch accepts only keys of the version that was checked here; when the key
 * changes in between, the caller is proved and the scope checked anew.
 */
export async function issueToken(deps: IssueDeps, request: Request): Promise<IssuedToken> {
  let proved = request.key
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const { key, scope } = await allowedScope(deps.tokenCache, proved, request)
    const { project_id: projectId, id: keyId, version: keyVersion } = key.row
    const { accessToken, digest, mapKey } = newToken(
      deps.random,
      projectId,
      deps.tokenCache.databaseClock.now(),
    )
    const { keysVersion } = key
    const outcome = await deps.issueBatcher.issue({
      projectId,
      keyId,
      keyVersion,
      keysVersion,
      digest,
      scope,
    })
    if (outcome.status === 'full') throw await limitReached(deps, key, outcome)
    if (outcome.status === 'issued') {
      const { epoch, expiresAt } = outcome
      if (outcome.keysVersion) key.keysVersion = outcome.keysVersion
      deps.tokenCache.putIssued(mapKey, { projectId, keyId, epoch, scope, expiresAt })
      return { accessToken, key, scope, expiresAt }
    }
    await deps.tokenCache.loadKey(projectId, keyId)
    proved = await request.authenticateAgain()
  }
  throw new Problem('temporarily_unavailable', {
    message: 'The API key is being changed at this moment.',
    details: 'Try again in a second.',
    headers: { 'retry-after': '1' },
  })
}

const MAX_GRANTS = 50

function grantedTo({ grants, permissions }: CachedKey, scope: string | undefined): string {
  const known = scope === undefined ? undefined : grants.get(scope)
  if (known !== undefined) return known
  // A piece of the request would keep all of it in memory, here and with every cached token.
  const granted = ownText(grantScope(scope, permissions))
  if (grants.size < MAX_GRANTS) grants.set(ownText(scope!), granted)
  return granted
}

/**
 * Before a scope is refused for what memory says of the key's permissions, the store is asked. What it says may also be
 * another secret or another whitelist, so the caller is then proved anew.
 */
async function allowedScope(cache: TokenCache, key: CachedKey, { scope, authenticateAgain }: Request) {
  try {
    return { key, scope: grantedTo(key, scope) }
  } catch {
    const stored = await cache.loadKey(key.row.project_id, key.row.id)
    const fresh = stored?.row.version === key.row.version ? key : await authenticateAgain()
    return { key: fresh, scope: grantedTo(fresh, scope) }
  }
}

async function limitReached(
  deps: IssueDeps,
  key: CachedKey,
  full: IssueOutcome & { status: 'full' },
): Promise<Problem> {
  const seconds = full.retryAfterSeconds
  const message =
    full.quota === 'key'
      ? `This key has ${key.row.token_limit} active tokens, which is its limit.`
      : `Project ${JSON.stringify(await deps.projectName(key.row.project_id))} has ${PROJECT_TOKEN_LIMIT} active tokens, which is its limit.`
  return new Problem('token_limit_reached', {
    message,
    details: `The next place is free in ${seconds} s. Reuse a token until it expires instead of asking for one per call.`,
    headers: { 'retry-after': String(seconds) },
    refusal: { step: 'limit', keyId: key.row.id, projectId: key.row.project_id },
  })
}
