import type { ProgramContext } from '../../platform/database/index.ts'
import type { IssueOutcome } from './issue.ts'
import { type IssueMessage, packOutcomes, type UnpackedInput, unpackInput } from './issue-message.ts'
import { DIGEST_BYTES, expiryOf, LIFETIME_MS, SECOND_MS, secondsUntilFree } from './token.ts'
import { type IssueTime, type Quota, quotasFor } from './token-quotas.sqlite.ts'

/** Runs inside the SQLite thread, in a transaction of its own, which excludes every other writer: no row needs a lock. */
export const run = (context: ProgramContext, message: IssueMessage): Float64Array =>
  packOutcomes(issueAll(context, unpackInput(message)))

const LATEST = `select (select max(expires_at) from tokens) as latest, (select max(expires_at) from tokens_counted) as counted`

/** Not before anything that the store has issued, and after all that is counted. */
function timeFor({ prepare }: ProgramContext, asked: number): IssueTime {
  const found = prepare(LATEST).get() as { latest: number | null; counted: number | null }
  const { latest, counted } = { latest: found.latest ?? 0, counted: found.counted ?? 0 }
  const now = Math.max(asked, latest - LIFETIME_MS, counted + SECOND_MS - LIFETIME_MS)
  return { now, expiresAt: expiryOf(now), latest, counted }
}

function issueAll(context: ProgramContext, asked: UnpackedInput): IssueOutcome[] {
  const time = timeFor(context, asked.now)
  const { expiresAt } = time
  const quotas = quotasFor(context, time)
  const insert = context.prepare(
    'insert into tokens (project_id, digest, key_id, epoch, scope, expires_at, revoked_at) values (?, ?, ?, ?, ?, ?, null)',
  )

  function decide(projectId: string, i: number): IssueOutcome {
    const keyId = asked.keyIds[i]!
    const key = quotas.key(projectId, keyId)
    if (key?.state !== 'active' || key.version !== asked.keyVersions[i]) return { status: 'stale' }
    const { project } = key
    if (key.limit !== null && !quotas.hasRemaining(key)) return full('key', key)
    if (!quotas.hasRemaining(project)) return full('project', project)
    quotas.take(key)
    const digest = asked.digests.subarray(i * DIGEST_BYTES, (i + 1) * DIGEST_BYTES)
    insert.run(projectId, digest, keyId, key.epoch, asked.scopes[i]!, expiresAt)
    return { status: 'issued', epoch: key.epoch, expiresAt }
  }

  const full = (quota: 'project' | 'key', { fullUntil }: Quota): IssueOutcome => ({
    status: 'full',
    quota,
    retryAfterSeconds: secondsUntilFree(fullUntil ?? time.now, time.now),
  })

  const outcomes = asked.projectIds.map(decide)
  quotas.store()
  return outcomes
}
