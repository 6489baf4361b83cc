import type { ApiKeyRow } from './api-key.store.ts'

/** An address that a key was used from, and when last. */
export interface RecentAddress {
  readonly address: string
  readonly at: number
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
  const latest = new Map<string, number>()
  for (const { address, at } of [...known, ...seen])
    latest.set(address, Math.max(at, latest.get(address) ?? 0))
  return [...latest]
    .map(([address, at]) => ({ address, at }))
    .sort((a, b) => b.at - a.at)
    .slice(0, MAX_RECENT_ADDRESSES)
}
