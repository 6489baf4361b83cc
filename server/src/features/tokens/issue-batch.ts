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
export interface IssueBatch {
  readonly now: number
  readonly items: readonly IssueItem[]
}

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
