import type { Scope } from '../../contract/scopes.ts'
import { addressMatcher } from '../../platform/addresses.ts'
import { type ApiKeyRow, permissionsOf, whitelistOf } from '../api-keys/index.ts'
import type { Confirmed } from './issue.ts'

/** A key as it is held in memory: parsed once, asked often. */
export interface KnownKey {
  readonly row: ApiKeyRow
  readonly permissions: readonly Scope[]
  /** Whether the key may be used from there; an unknown address (null) only if the whitelist is empty. */
  readonly admits: (address: string | null) => boolean
  /** Scopes as they were asked for and granted: clients ask for the same ones again and again. */
  readonly grants: Map<string, string>
  /** What tokens of a scope may do with it now, once it has been worked out; and, under undefined, the key itself. */
  readonly rights: Map<string | undefined, Rights>
  /** When it was read, on the monotonic clock. */
  readonly readAt: number
  confirmed: Confirmed | undefined
}

/** Of a token's scope what its key is permitted at present. */
export interface Rights {
  readonly scopes: readonly string[]
  /** The same, as it is told. */
  readonly text: string
}

const everyone = (): boolean => true

function only(whitelist: readonly string[]): KnownKey['admits'] {
  const matches = addressMatcher(whitelist)
  return (address) => address !== null && matches(address)
}

export function knownKey(row: ApiKeyRow, readAt: number): KnownKey {
  const whitelist = whitelistOf(row)
  return {
    row,
    permissions: permissionsOf(row),
    admits: whitelist.length === 0 ? everyone : only(whitelist),
    grants: new Map(),
    rights: new Map(),
    readAt,
    confirmed: undefined,
  }
}
