import type { ApiKeyRow } from './api-key.store.ts'

/** An address that a key was used from, and when last. */
export interface RecentAddress {
  readonly address: string
  readonly at: number
  /** When the previous secret was last used from there. */
  readonly oldSecretAt?: number
}

/** Enough for the instances of a client; a key that is used from everywhere shows the latest. */
export const MAX_RECENT_ADDRESSES = 16

/** Newest first. */
export const recentAddressesOf = (row: Pick<ApiKeyRow, 'recent_addresses'>): RecentAddress[] =>
  JSON.parse(row.recent_addresses)

/** Adds uses to the known addresses, each once, and keeps the latest. */
export function withAddresses(
  known: readonly RecentAddress[],
  seen: readonly RecentAddress[],
): RecentAddress[] {
  const byAddress = Map.groupBy([...known, ...seen], ({ address }) => address)
  return [...byAddress]
    .map(([address, uses]) => {
      const oldSecretAt = Math.max(...uses.map((use) => use.oldSecretAt ?? 0))
      const at = Math.max(...uses.map((use) => use.at))
      return { address, at, ...(oldSecretAt > 0 && { oldSecretAt }) }
    })
    .sort((a, b) => b.at - a.at)
    .filter((entry, i, all) => i < MAX_RECENT_ADDRESSES || isLastOldUse(entry, all))
}

/** The newest use of the previous secret stays, however many other addresses follow it. */
const isLastOldUse = ({ oldSecretAt = 0 }: RecentAddress, all: readonly RecentAddress[]): boolean =>
  oldSecretAt > 0 && all.every((other) => (other.oldSecretAt ?? 0) <= oldSecretAt)

/** The newest use of the previous secret since it was replaced. */
export function oldSecretUse(key: ApiKeyRow): { address: string; at: number } | undefined {
  return recentAddressesOf(key)
    .map(({ address, oldSecretAt = 0 }) => ({ address, at: oldSecretAt }))
    .filter(({ at }) => at > 0 && at >= (key.regenerated_at ?? 0))
    .sort((a, b) => b.at - a.at)[0]
}
