import type { Scope } from '../../contract/scopes.ts'
import { addressMatcher } from '../../platform/addresses.ts'
import { type ApiKeyRow, permissionsOf, whitelistOf } from '../api-keys/index.ts'
import type { KeysVersion } from './issue-batch.ts'

/** A key in the cache: parsed once, used often. */
export interface CachedKey {
  readonly row: ApiKeyRow
  readonly permissions: readonly Scope[]
  /** Whether the key may be used from this address; an unknown one (null) only if the whitelist is empty. */
  readonly allowsIp: (address: string | null) => boolean
  /** Requested scope to granted scope: clients send the same ones again and again. */
  readonly grants: Map<string, string>
  /** What tokens of a scope may do with the key now; under undefined, what the key itself may do. */
  readonly rights: Map<string | undefined, Rights>
  /** When it was read, on the monotonic clock. */
  readonly readAt: number
  keysVersion: KeysVersion | undefined
}

/** The part of a token's scope that its key is permitted at present. */
export interface Rights {
  readonly scopes: readonly string[]
  /** The same, separated by spaces. */
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
    grants: new Map(),
    rights: new Map(),
    readAt,
    keysVersion: undefined,
  }
}
