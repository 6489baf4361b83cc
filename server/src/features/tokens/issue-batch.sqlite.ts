import type { SqliteDatabase, WriterContext } from '../../platform/database/index.ts'
import type { IssueBatch, IssueOutcome } from './issue-batch.ts'
import { DIGEST_BYTES, expiryOf, LIFETIME_MS, secondsUntilFree } from './token.ts'
import { type Quota, TokenQuotas } from './token-quotas.sqlite.ts'

/** A batch as a message. One text and arrays of numbers are copied in one piece; objects cost 7 µs more per token. */
interface Message {
  readonly now: number
  /** Project ids, key ids and scopes, one per line. */
  readonly texts: string
  readonly keyVersions: Float64Array
  readonly digests: Uint8Array
}

/** Sends the batch to the writer thread, which runs `run` below. */
export async function issueOnSqlite(db: SqliteDatabase, batch: IssueBatch): Promise<IssueOutcome[]> {
  const { now, projectIds, keyIds, scopes, keyVersions, digests } = batch
  const texts = [...projectIds, ...keyIds, ...scopes].join('\n')
  const message = { now, texts, keyVersions: Float64Array.from(keyVersions), digests }
  return unpackOutcomes(await db.runInWriter<Message, Float64Array>(new URL(import.meta.url), message))
}

const LATEST_EXPIRY = 'select max(expires_at) as latest from tokens'
const INSERT = `insert into tokens (project_id, digest, key_id, epoch, scope, expires_at, revoked_at)
  values (?, ?, ?, ?, ?, ?, null)`

/** Runs in a transaction on the writer thread. It excludes every other writer, so no row needs a lock. */
export function run({ prepare }: WriterContext, message: Message): Float64Array {
  const { keyVersions, digests } = message
  const texts = message.texts.split('\n')
  const count = keyVersions.length
  const { latest } = prepare(LATEST_EXPIRY).get() as { latest: number | null }
  const now = Math.max(message.now, (latest ?? 0) - LIFETIME_MS)
  const expiresAt = expiryOf(now)
  const quotas = new TokenQuotas(prepare, { now, expiresAt })
  const insert = prepare(INSERT)

  function issue(i: number): IssueOutcome {
    const [projectId, keyId, scope] = [texts[i]!, texts[count + i]!, texts[2 * count + i]!]
    const key = quotas.find(projectId, keyId)
    if (key?.state !== 'active' || key.version !== keyVersions[i]) return { status: 'stale' }
    if (key.limit !== null && !quotas.hasRemaining(key)) return full('key', key)
    if (!quotas.hasRemaining(key.project)) return full('project', key.project)
    quotas.take(key)
    const digest = digests.subarray(i * DIGEST_BYTES, (i + 1) * DIGEST_BYTES)
    insert.run(projectId, digest, keyId, key.epoch, scope, expiresAt)
    return { status: 'issued', expiresAt }
  }

  const full = (quota: 'project' | 'key', { fullUntil }: Quota): IssueOutcome => ({
    status: 'full',
    quota,
    retryAfterSeconds: secondsUntilFree(fullUntil ?? now, now),
  })

  const outcomes = Array.from({ length: count }, (_, i) => issue(i))
  quotas.save()
  return packOutcomes(outcomes)
}

const NUMBERS = 2
const [STALE, ISSUED, PROJECT_FULL, KEY_FULL] = [0, 1, 2, 3]

function packOutcomes(outcomes: readonly IssueOutcome[]): Float64Array {
  const packed = new Float64Array(outcomes.length * NUMBERS)
  for (const [i, outcome] of outcomes.entries()) packed.set(numbersOf(outcome), i * NUMBERS)
  return packed
}

function numbersOf(outcome: IssueOutcome): number[] {
  if (outcome.status === 'stale') return [STALE]
  if (outcome.status === 'issued') return [ISSUED, outcome.expiresAt]
  return [outcome.quota === 'project' ? PROJECT_FULL : KEY_FULL, outcome.retryAfterSeconds]
}

const unpackOutcomes = (packed: Float64Array): IssueOutcome[] =>
  Array.from({ length: packed.length / NUMBERS }, (_, i) =>
    outcomeOf(packed[i * NUMBERS]!, packed[i * NUMBERS + 1]!),
  )

function outcomeOf(kind: number, value: number): IssueOutcome {
  if (kind === STALE) return { status: 'stale' }
  if (kind === ISSUED) return { status: 'issued', expiresAt: value }
  return { status: 'full', quota: kind === PROJECT_FULL ? 'project' : 'key', retryAfterSeconds: value }
}
