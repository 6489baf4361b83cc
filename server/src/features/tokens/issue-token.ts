import { PROJECT_TOKEN_LIMIT } from '../../contract/limits.ts'
import { Problem } from '../../contract/problem.ts'
import { copyText } from '../../platform/copy-text.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import type { CachedKey } from './cached-key.ts'
import type { IssueOutcome } from './issue-batch.ts'
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

interface IssuedToken {
  readonly accessToken: string
  readonly key: CachedKey
  readonly scope: string
  readonly expiresAt: number
}

interface IssueRequest {
  readonly key: CachedKey
  readonly scope: string | undefined
  readonly authenticateAgain: () => Promise<CachedKey>
}

/** A key does not change more often than this within one request in normal operation. */
const MAX_ATTEMPTS = 5

/**
 * Issues one token, as part of a batch. The batch accepts only the version of the key that was checked here. If the key
 * changes in between, credentials and scope are checked again.
 */
export async function issueToken(deps: IssueDeps, request: IssueRequest): Promise<IssuedToken> {
  const { tokenCache } = deps
  let authenticatedKey = request.key
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const { key, scope } = await allowedScope(tokenCache, authenticatedKey, request)
    const { project_id: projectId, id: keyId, version: keyVersion, epoch } = key.row
    const { accessToken, digest, cacheKey } = newToken(deps.random, projectId, tokenCache.databaseClock.now())
    const { projectKeysVersion } = key
    const item = { projectId, keyId, keyVersion, epoch, projectKeysVersion, digest, scope }
    const outcome = await deps.issueBatcher.issue(item)
    if (outcome.status === 'full') throw await limitReached(deps, key, outcome)
    if (outcome.status === 'issued') {
      const { expiresAt } = outcome
      if (outcome.projectKeysVersion) key.projectKeysVersion = outcome.projectKeysVersion
      tokenCache.putIssued(cacheKey, { projectId, keyId, epoch, scope, expiresAt })
      return { accessToken, key, scope, expiresAt }
    }
    await tokenCache.loadKey(projectId, keyId)
    authenticatedKey = await request.authenticateAgain()
  }
  throw new Problem('temporarily_unavailable', {
    message: 'The API key is being changed right now.',
    details: 'Retry in one second.',
    headers: { 'retry-after': '1' },
  })
}

const MAX_CACHED_SCOPES = 50

function grantedTo({ grantedScopes, permissions }: CachedKey, scope: string | undefined): string {
  const known = scope === undefined ? undefined : grantedScopes.get(scope)
  if (known !== undefined) return known
  // Copied, because a substring would keep the whole request in memory, here and with every cached token.
  const granted = copyText(grantScope(scope, permissions))
  if (grantedScopes.size < MAX_CACHED_SCOPES) grantedScopes.set(copyText(scope!), granted)
  return granted
}

/**
 * Reads the database before it refuses a scope because of cached permissions. If the key has changed, its secret or
 * allowlist may have changed too, so the caller authenticates again.
 */
async function allowedScope(cache: TokenCache, key: CachedKey, { scope, authenticateAgain }: IssueRequest) {
  try {
    return { key, scope: grantedTo(key, scope) }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
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
    details: `The next token expires in ${seconds} s. Reuse a token until it expires instead of requesting one per call.`,
    headers: { 'retry-after': String(seconds) },
    refusal: { step: `${full.quota}_limit`, keyId: key.row.id, projectId: key.row.project_id },
  })
}
