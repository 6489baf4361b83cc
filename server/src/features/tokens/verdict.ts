import type { KnownKey } from './known-key.ts'
import type { KnownToken, Memory } from './memory.ts'
import { mapKeyOf, nameOfToken, type TokenName } from './token.ts'

/** Inactive carries why, for the record only: outsiders see the same bytes in every case. */
export type Verdict =
  | {
      readonly active: false
      readonly step: 'bearer_malformed' | 'bearer_inactive'
      readonly keyId?: string
      readonly projectId?: string
    }
  | { readonly active: true; readonly token: KnownToken; readonly key: KnownKey; readonly now: number }

const MALFORMED: Verdict = { active: false, step: 'bearer_malformed' }
const UNKNOWN: Verdict = { active: false, step: 'bearer_inactive' }

/**
 * Starts from inactive and earns active: well-formed, on record, not revoked, not expired, and of its key's present
 * epoch. No write, and on a hit no read and no promise. What memory does not know must be well-formed, and of the
 * project where one is asked about, before the store is read. Throws StoreUnavailable where nobody can tell.
 */
export function verdictOf(
  memory: Memory,
  accessToken: string,
  inProject?: string,
): Verdict | Promise<Verdict> {
  const mapKey = mapKeyOf(accessToken)
  const token = memory.knownToken(mapKey)
  const key = token && memory.knownKey(token.keyId, token.epoch)
  if (token && inProject !== undefined && token.projectId !== inProject) return UNKNOWN
  if (token && key) return judge(memory, token, key)
  const name = nameOfToken(accessToken)
  if (name === null) return MALFORMED
  if (inProject !== undefined && name.projectId !== inProject) return UNKNOWN
  return verdictFromStore(memory, name, mapKey)
}

function judge(memory: Memory, token: KnownToken, key: KnownKey | undefined): Verdict {
  const now = memory.storeClock.now()
  const alive =
    !token.revoked && now < token.expiresAt && key?.row.state === 'active' && key.row.epoch === token.epoch
  return alive
    ? { active: true, token, key, now }
    : { active: false, step: 'bearer_inactive', keyId: token.keyId, projectId: token.projectId }
}

async function verdictFromStore(memory: Memory, name: TokenName, mapKey: string): Promise<Verdict> {
  const token = memory.knownToken(mapKey) ?? (await memory.freshToken(name, mapKey))
  if (!token) return UNKNOWN
  const key =
    memory.knownKey(token.keyId, token.epoch) ?? (await memory.freshKey(name.projectId, token.keyId))
  return judge(memory, token, key)
}
