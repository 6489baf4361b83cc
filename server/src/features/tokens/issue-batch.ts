import { DIGEST_BYTES } from './token.ts'

/**
 * One transaction that issues many tokens. It is written once per engine, since the query builder cost a third of the
 * throughput. Both follow the same rules and pass the same tests:
 *
 * - Projects are locked in the order of their ids, and everything that decides is read afterwards.
 * - A request whose key has another version than the one it was checked against is `stale`, and is checked again.
 * - Time is the database's, and never earlier than any at which a token was issued before.
 * - Credits are taken while there are any; active tokens are counted only when credits run out.
 * - `full_until` says when the next active token expires; until then, a refusal costs no count.
 */
export interface IssueItem {
  readonly projectId: string
  readonly keyId: string
  /** As the request was checked against. A version of a key has one epoch. */
  readonly keyVersion: number
  readonly epoch: number
  readonly keysVersion: KeysVersion | undefined
  readonly digest: Uint8Array
  readonly scope: string
}

/**
 * The version of all keys of a project, as PostgreSQL returned it with a token of this key: while the project has the same
 * one, the key has not changed and need not be read. Undefined for a key with a limit of its own.
 */
export type KeysVersion = string

export type IssueOutcome =
  | {
      readonly status: 'issued'
      readonly expiresAt: number
      /** On PostgreSQL, if the key was read. */
      readonly keysVersion?: KeysVersion
    }
  | { readonly status: 'full'; readonly quota: 'project' | 'key'; readonly retryAfterSeconds: number }
  | { readonly status: 'stale' }

/** A batch column by column: PostgreSQL takes arrays, and so does a message to the SQLite thread. */
export interface IssueBatch {
  readonly now: number
  readonly projectIds: readonly string[]
  readonly keyIds: readonly string[]
  readonly keyVersions: readonly number[]
  readonly epochs: readonly number[]
  readonly keysVersions: readonly (KeysVersion | undefined)[]
  readonly scopes: readonly string[]
  /** Concatenated. */
  readonly digests: Uint8Array
}

export function batchOf(items: readonly IssueItem[], now: number): IssueBatch {
  const digests = new Uint8Array(items.length * DIGEST_BYTES)
  for (const [i, { digest }] of items.entries()) digests.set(digest, i * DIGEST_BYTES)
  return {
    now,
    projectIds: items.map((item) => item.projectId),
    keyIds: items.map((item) => item.keyId),
    keyVersions: items.map((item) => item.keyVersion),
    epochs: items.map((item) => item.epoch),
    keysVersions: items.map((item) => item.keysVersion),
    scopes: items.map((item) => item.scope),
    digests,
  }
}
