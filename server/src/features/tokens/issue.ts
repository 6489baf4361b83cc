import { DIGEST_BYTES } from './token.ts'

/**
 * One transaction that issues many tokens: written once per engine, since through the query builder it cost a third of
 * the throughput. Both programs obey the same rules and are held by the same tests:
 *
 * - Projects are locked, then keys, each in the order of their ids; what is decided by is read only afterwards.
 * - A request whose key has another version than the one it was checked against is `stale` and is decided anew.
 * - Time is the store's, never earlier than any at which it has issued before.
 * - Credits are taken while there are any; only when they run out are the active tokens counted.
 * - A full project or key remembers until when nothing can expire, so that its refusals cost no count.
 */
export interface IssueItem {
  readonly projectId: string
  readonly keyId: string
  readonly keyVersion: number
  readonly confirmed: Confirmed | undefined
  readonly digest: Uint8Array
  readonly scope: string
}

/**
 * What PostgreSQL said of a key when it last issued with it, if the key has no limit of its own. While the mark of its
 * project is the same, so is the key: it need not be looked at again.
 */
export interface Confirmed {
  readonly epoch: number
  readonly mark: string
}

/** Column by column: PostgreSQL takes arrays, and a message to the SQLite thread costs a sixth of what objects would. */
export interface IssueInput {
  readonly now: number
  readonly projectIds: readonly string[]
  readonly keyIds: readonly string[]
  readonly keyVersions: readonly number[]
  readonly confirmed: readonly (Confirmed | undefined)[]
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
    confirmed: items.map((item) => item.confirmed),
    scopes: items.map((item) => item.scope),
    digests,
  }
}

/** Some of what was asked for, by their places. */
export const only = (asked: IssueInput, places: readonly number[]): IssueInput =>
  columnsOf(
    places.map((i) => ({
      projectId: asked.projectIds[i]!,
      keyId: asked.keyIds[i]!,
      keyVersion: asked.keyVersions[i]!,
      confirmed: asked.confirmed[i],
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
      /** On PostgreSQL, where it had to look. */
      readonly confirmed?: Confirmed
    }
  | { readonly status: 'full'; readonly holder: 'project' | 'key'; readonly retryAfterSeconds: number }
  | { readonly status: 'stale' }
