import type { Scope } from '../../contract/scopes.ts'
import { addressMatcher } from '../../platform/addresses.ts'
import { type ApiKeyRow, permissionsOf, whitelistOf } from '../api-keys/index.ts'
import type { ProjectKeysVersion } from './issue-batch.ts'

/** A parsed key in the cache. */
export interface CachedKey {
  readonly row: ApiKeyRow
  readonly permissions: readonly Scope[]
  /** Whether the key may be used from this address. An unknown address (null) is allowed only if the allowlist is empty. */
  readonly allowsIp: (address: string | null) => boolean
  /** Granted scope by requested scope, because clients repeat the same requests. */
  readonly grantedScopes: Map<string, string>
  /** Effective scopes by token scope; for undefined, the permissions of the key itself. */
  readonly effectiveScopes: Map<string | undefined, EffectiveScopes>
  /** Monotonic time at which the row was read. */
  readonly readAt: number
  projectKeysVersion: ProjectKeysVersion | undefined
}

/** The part of a token's scope that its key currently permits. */
export interface EffectiveScopes {
  readonly scopes: readonly string[]
  /** `scopes`, separated by spaces. */
  readonly text: string
}

function allowOnly(whitelist: readonly string[]): CachedKey['allowsIp'] {
  const matches = addressMatcher(whitelist)
  return (address) => address !== null && matches(address)
}

export function cachedKey(row: ApiKeyRow, readAt: number): CachedKey {
  const whitelist = whitelistOf(row)
  return {
    row,
    permissions: permissionsOf(row),
    allowsIp: whitelist.length === 0 ? () => true : allowOnly(whitelist),
    grantedScopes: new Map(),
    effectiveScopes: new Map(),
    readAt,
    projectKeysVersion: undefined,
  }
}
