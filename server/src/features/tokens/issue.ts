import { DIGEST_BYTES } from './token.ts'

/**
 * One transaction that issues many tokens. It is written once per engine, since the query builder cost a third of the
 * throughput. Both follow the same rules and pass the same tests:
 *
 * - Projects are locked in the order of their ids, and everything that decides is read afterwards.
 * - A request whose key has another version than the one it was checked against is `stale`, and is checked again.
 * - Time is the database's, and never earlier than any at which a token was issued before.
 * - Credits are taken while there are any; active tokens are counted only when credits run out.
 * - A full project or key stores until when nothing can expire, so that refusing costs no count.
 */
export interface IssueItem {
  readonly projectId: string
  readonly keyId: string
  readonly keyVersion: number
  readonly keysVersion: KeysVersion | undefined
  readonly digest: Uint8Array
  readonly scope: string
}

/**
 * The version of all keys of a project (PostgreSQL only), for a key without a limit of its own: while the project has the
 * same one, the key has not changed and need not be read.
 */
export interface KeysVersion {
  readonly epoch: number
  readonly keysVersion: string
}

/** Column by column: PostgreSQL takes arrays, and a message to the SQLite thread costs a sixth of what objects cost. */
export interface IssueInput {
  readonly now: number
  readonly projectIds: readonly string[]
  readonly keyIds: readonly string[]
  readonly keyVersions: readonly number[]
  readonly keysVersions: readonly (KeysVersion | undefined)[]
  readonly scopes: readonly string[]
  /** One after the other. */
  readonly digests: Uint8Array
}

export function columnsOf(items: readonly IssueItem[], now: number): IssueInput {
  const digests = new Uint8Array(items.length * DIGEST_BYTES)
  for (const [i, { digest }] of items.entries()) digests.set(digest, i * DIGEST_BYTES)
  return {
    now,
    projectIds: items.map((item) => item.projectId),
    keyIds: items.map((item) => item.keyId),
    keyVersions: items.map((item) => item.keyVersion),
    keysVersions: items.map((item) => item.keysVersion),
    scopes: items.map((item) => item.scope),
    digests,
  }
}

/** Some of the requests, by their positions. */
export const only = (asked: IssueInput, positions: readonly number[]): IssueInput =>
  columnsOf(
    positions.map((i) => ({
      projectId: asked.projectIds[i]!,
      keyId: asked.keyIds[i]!,
      keyVersion: asked.keyVersions[i]!,
      keysVersion: asked.keysVersions[i],
      scope: asked.scopes[i]!,
      digest: asked.digests.subarray(i * DIGEST_BYTES, (i + 1) * DIGEST_BYTES),
    })),
    asked.now,
  )

export type IssueOutcome =
  | {
      readonly status: 'issued'
      readonly epoch: number
      readonly expiresAt: number
      /** On PostgreSQL, if the key was read. */
      readonly keysVersion?: KeysVersion
    }
  | { readonly status: 'full'; readonly quota: 'project' | 'key'; readonly retryAfterSeconds: number }
  | { readonly status: 'stale' }
