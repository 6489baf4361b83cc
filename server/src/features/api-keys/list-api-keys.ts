import { Problem } from '../../contract/problem.ts'
import { addressMatcher, normalizeIp } from '../../platform/addresses.ts'
import type { Reader } from '../../platform/database/index.ts'
import type { Page, Rows } from '../../platform/http/index.ts'
import { type ApiKeyRow, type KeyFilter, listApiKeyRows } from './api-key.store.ts'
import { whitelistOf } from './api-key.ts'

const BATCH = 1_000

/** Newest first. With an address, only keys whose whitelist admits it; an empty whitelist admits all. */
export async function listApiKeys(
  reader: Reader,
  { address, ...filter }: KeyFilter & { readonly address?: string | undefined },
  page: Page,
): Promise<Rows<ApiKeyRow>> {
  if (address === undefined) return listApiKeyRows(reader, filter, page)
  const plain = normalizeIp(address)
  if (plain === null) throw noAddress(address)
  const admitted: ApiKeyRow[] = []
  for (let offset = 0; ; offset += BATCH) {
    const { rows } = await listApiKeyRows(reader, filter, { limit: BATCH, offset })
    admitted.push(...rows.slice(0, BATCH).filter((row) => admits(row, plain)))
    if (rows.length <= BATCH) break
  }
  const { offset, limit } = page
  return { rows: admitted.slice(offset, offset + limit + 1), total: admitted.length }
}

function admits(row: ApiKeyRow, plain: string): boolean {
  const whitelist = whitelistOf(row)
  return whitelist.length === 0 || addressMatcher(whitelist)(plain)
}

const noAddress = (address: string): Problem =>
  new Problem('invalid_payload', {
    message: `address: ${JSON.stringify(address)} is not an IP address.`,
    details: 'Send one address, such as 10.0.0.4 or 2001:db8::4.',
  })
