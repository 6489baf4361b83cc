import { type SqlConnection, StoreUnavailable } from '../../platform/database/index.ts'
import type { IssueBatch, IssueOutcome } from './issue-batch.ts'
import { expiryOf, LIFETIME_MS, secondsUntilFree } from './token.ts'

/** Locks are held for milliseconds. A batch that waits for one project must not delay the others for longer. */
const LOCK_TIMEOUT_MS = '250'

const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK = '40P01'

/** Migration 0015. */
const ISSUE_BATCH = `select issued_at, results, keys_versions from jeton_issue_batch($1::text[], $2::text[], $3::bigint[],
  $4::bigint[], $5::text[], $6::text[], $7::bytea, $8::bigint, ${LIFETIME_MS}, $9::text)`

interface Issued {
  readonly issued_at: number
  /** One entry per request, or null if all were issued. */
  readonly results: string | null
  /** One entry per request, `-` if its key was not read; null if none was. */
  readonly keys_versions: string | null
}

async function callFunction(
  sql: SqlConnection,
  { items, now }: IssueBatch,
  lockTimeoutMs: string | null,
): Promise<IssueOutcome[]> {
  const [row] = await sql.query<Issued>(ISSUE_BATCH, [
    items.map(({ projectId }) => projectId),
    items.map(({ keyId }) => keyId),
    items.map(({ keyVersion }) => keyVersion),
    items.map(({ epoch }) => epoch),
    items.map(({ projectKeysVersion }) => projectKeysVersion ?? ''),
    items.map(({ scope }) => scope),
    Buffer.concat(items.map(({ digest }) => digest)),
    now,
    lockTimeoutMs,
  ])
  return outcomesOf(row!, items.length)
}

function outcomesOf({ issued_at, results, keys_versions }: Issued, requests: number): IssueOutcome[] {
  const issued = { status: 'issued', expiresAt: expiryOf(issued_at) } as const
  const keysVersions = keys_versions?.split(' ')
  const issuedTo = (i: number): IssueOutcome => {
    const projectKeysVersion = keysVersions?.[i] ?? '-'
    return projectKeysVersion === '-' ? issued : { ...issued, projectKeysVersion }
  }
  if (results === null) return Array.from({ length: requests }, (_, i) => issuedTo(i))
  return results.split(' ').map((result, i) => {
    if (result === 'issued') return issuedTo(i)
    if (result === 'stale') return { status: 'stale' }
    const [quota, freeAt] = result.split(':') as ['project' | 'key', string]
    return { status: 'full', quota, retryAfterSeconds: secondsUntilFree(Number(freeAt), issued_at) }
  })
}

function isLocked(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  const cause = error instanceof StoreUnavailable ? (error.cause as { code?: unknown })?.code : undefined
  return code === DEADLOCK || cause === LOCK_NOT_AVAILABLE
}

/** Returns undefined, without issuing anything, if a project of the batch is locked by another transaction. */
export async function issueOnPostgres(
  sql: SqlConnection,
  batch: IssueBatch,
): Promise<IssueOutcome[] | undefined> {
  try {
    return await callFunction(sql, batch, LOCK_TIMEOUT_MS)
  } catch (error) {
    if (isLocked(error)) return undefined
    throw error
  }
}

/** Waits for locks up to the normal statement timeout. */
export const issueAfterLocks = (sql: SqlConnection, batch: IssueBatch): Promise<IssueOutcome[]> =>
  callFunction(sql, batch, null)
