/**
 * Issues many tokens in one transaction. It is implemented per engine, because the query builder cost a third of the
 * throughput. Both follow the same rules and pass the same tests:
 *
 * - Projects are locked in the order of their ids, and all checks read after that.
 * - A request is `stale`, and is checked again, if its key has another version than the one it was checked against.
 * - Time is the database's, and never earlier than the time of any token issued before.
 * - Credits are taken while there are any. Active tokens are counted only when credits run out.
 * - `full_until` is when the next active token expires. Until then a refusal costs no count.
 */
export interface IssueBatch {
  readonly now: number
  readonly items: readonly IssueItem[]
}

export interface IssueItem {
  readonly projectId: string
  readonly keyId: string
  /** Version of the key that the request was checked against. A version has one epoch. */
  readonly keyVersion: number
  readonly epoch: number
  readonly projectKeysVersion: ProjectKeysVersion | undefined
  readonly digest: Uint8Array
  readonly scope: string
}

/**
 * Version of all keys of a project, which PostgreSQL returned with a token of this key. While the project has the same
 * version, the key is unchanged and need not be read. Undefined for a key with its own limit. Its column is
 * `projects.keys_mark` and the SQL function takes it as `known_versions`: new names would exclude older versions of Jeton
 * from the store.
 */
export type ProjectKeysVersion = string

export type IssueOutcome =
  | {
      readonly status: 'issued'
      readonly expiresAt: number
      /** On PostgreSQL, if the key was read. */
      readonly projectKeysVersion?: ProjectKeysVersion
    }
  | { readonly status: 'full'; readonly quota: 'project' | 'key'; readonly retryAfterSeconds: number }
  | { readonly status: 'stale' }
