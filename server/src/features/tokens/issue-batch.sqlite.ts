import type { SqliteDatabase, WriterContext } from '../../platform/database/index.ts'
import type { IssueBatch, IssueOutcome } from './issue-batch.ts'
import { DIGEST_BYTES, expiryOf, LIFETIME_MS, secondsUntilFree } from './token.ts'
import { type Quota, quotasFor } from './token-quotas.sqlite.ts'

/** A batch as a message. One text and number arrays are copied as a block; objects cost 7 µs more per token. */
interface Message {
  readonly now: number
  /** Project ids, key ids and scopes, one per line. */
  readonly texts: string
  readonly keyVersions: Float64Array
  /** Concatenated. */
  readonly digests: Uint8Array
}

/** Sends the batch to the writer thread, which runs `run` below. */
export function issueOnSqlite(db: SqliteDatabase, { items, now }: IssueBatch): Promise<IssueOutcome[]> {
  const [projectIds, keyIds] = [items.map((item) => item.projectId), items.map((item) => item.keyId)]
  const texts = [...projectIds, ...keyIds, ...items.map((item) => item.scope)].join('\n')
  const keyVersions = Float64Array.from(items, (item) => item.keyVersion)
  const digests = new Uint8Array(items.length * DIGEST_BYTES)
  for (const [i, { digest }] of items.entries()) digests.set(digest, i * DIGEST_BYTES)
  const message: Message = { now, texts, keyVersions, digests }
  return db.runInWriter(new URL(import.meta.url), message)
}

const LATEST_EXPIRY = 'select max(expires_at) as latest from tokens'
const INSERT = `insert into tokens (project_id, digest, key_id, epoch, scope, expires_at, revoked_at)
  values (?, ?, ?, ?, ?, ?, null)`

/** Runs in a transaction on the writer thread. It excludes every other writer, so no row needs a lock. */
export function run(context: WriterContext, message: Message): IssueOutcome[] {
  const { keyVersions, digests } = message
  const texts = message.texts.split('\n')
  const count = keyVersions.length
  const { latest } = context.prepare(LATEST_EXPIRY).get() as { latest: number | null }
  const now = Math.max(message.now, (latest ?? 0) - LIFETIME_MS)
  const expiresAt = expiryOf(now)
  const quotas = quotasFor(context, { now, expiresAt })
  const insert = context.prepare(INSERT)
  // One shared object, so that the reply contains it once.
  const issued: IssueOutcome = { status: 'issued', expiresAt }
  const stale: IssueOutcome = { status: 'stale' }

  function issue(i: number): IssueOutcome {
    const [projectId, keyId, scope] = [texts[i]!, texts[count + i]!, texts[2 * count + i]!]
    const key = quotas.find(projectId, keyId)
    if (key?.state !== 'active' || key.version !== keyVersions[i]) return stale
    if (key.limit !== null && !quotas.hasRemaining(key)) return full('key', key)
    if (!quotas.hasRemaining(key.project)) return full('project', key.project)
    quotas.take(key)
    const digest = digests.subarray(i * DIGEST_BYTES, (i + 1) * DIGEST_BYTES)
    insert.run(projectId, digest, keyId, key.epoch, scope, expiresAt)
    return issued
  }

  const full = (quota: 'project' | 'key', { fullUntil }: Quota): IssueOutcome => ({
    status: 'full',
    quota,
    retryAfterSeconds: secondsUntilFree(fullUntil ?? now, now),
  })

  const outcomes = Array.from({ length: count }, (_, i) => issue(i))
  quotas.save()
  return outcomes
}
