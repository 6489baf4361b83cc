import type { FastifyRequest } from 'fastify'
import { Problem } from '../../contract/problem.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import { digestOf } from '../../platform/secrets.ts'
import { deleteSomeKeysBefore, insertKey, type KeyName, lockKey, updateKey } from './idempotency.store.ts'

const RETENTION_MS = 24 * 60 * 60_000
const PRINTABLE = /^[\x20-\x7e]{1,255}$/

/** The header's value, or undefined if it was not sent. */
function keyOf({ headers }: FastifyRequest): string | undefined {
  const sent = headers['idempotency-key']
  if (sent === undefined || (typeof sent === 'string' && PRINTABLE.test(sent))) return sent
  throw new Problem('invalid_payload', {
    message: 'Idempotency-Key must be 1 to 255 printable characters.',
    details: 'Use a UUID, for example. Nothing was changed.',
  })
}

const fingerprintOf = ({ method, url, body }: FastifyRequest): string =>
  digestOf(`${method}\n${url}\n${JSON.stringify(body)}`).toString('hex')

/**
 * Runs `work` in a transaction and returns its response as text. A repeated request with the same Idempotency-Key gets the
 * first response without running the work. Only success is stored, in the same transaction as the work, so neither a key
 * without its effect nor an effect without its key can exist.
 */
export async function withIdempotencyKey(
  { db }: { db: Database },
  request: FastifyRequest,
  work: (tx: Transaction) => Promise<object>,
): Promise<string> {
  const key = keyOf(request)
  if (key === undefined) return db.transaction(async (tx) => JSON.stringify(await work(tx)))
  const name = { project_id: request.projectId, api_key_id: request.actor.id, key }
  return db.transaction(async (tx) => {
    const stored = await claimKey(tx, name, fingerprintOf(request))
    if (stored !== null) return stored
    const answer = JSON.stringify(await work(tx))
    tx.sendWithCommit(updateKey(tx, name, { answer }))
    return answer
  })
}

/** Returns the stored response, or null if the key is now claimed. This is the first lock of the transaction. */
async function claimKey(tx: Transaction, name: KeyName, fingerprint: string): Promise<string | null> {
  const now = await tx.now()
  if (await insertKey(tx, { ...name, fingerprint, answer: null, created_at: now })) return null
  const row = await lockKey(tx, name)
  // The janitor has just removed the row.
  if (!row) return claimKey(tx, name, fingerprint)
  if (row.created_at <= now - RETENTION_MS) {
    await updateKey(tx, name, { fingerprint, answer: null, created_at: now })
    return null
  }
  if (row.fingerprint !== fingerprint) throw reused()
  return row.answer
}

const reused = (): Problem =>
  new Problem('idempotency_key_reused', {
    message: 'This Idempotency-Key was used for another request.',
    details: 'Use a new key for every new request. Nothing was changed.',
  })

/** Small transactions: after a stop of some hours, a day of keys has expired. */
const KEYS_PER_BATCH = 500

/** Deletes expired keys. Called by the janitor. */
export async function forgetOldKeys(db: Database, now: number): Promise<void> {
  const before = now - RETENTION_MS
  let deleted: number
  do deleted = await db.transaction((tx) => deleteSomeKeysBefore(tx, before, KEYS_PER_BATCH))
  while (deleted === KEYS_PER_BATCH)
}
