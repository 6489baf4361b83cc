import { hash } from 'node:crypto'
import type { KnownKey } from './known-key.ts'
import type { KnownToken, Memory } from './memory.ts'
import type { TokenRow } from './token.store.ts'
import { projectOfToken } from './token.ts'

/** Inactive carries why, for the record only: outsiders see the same bytes in every case. */
export type Verdict =
  | {
      readonly active: false
      readonly step: 'bearer_malformed' | 'bearer_inactive'
      readonly keyId?: string
      readonly projectId?: string
    }
  | { readonly active: true; readonly token: TokenRow; readonly key: KnownKey; readonly now: number }

const MALFORMED: Verdict = { active: false, step: 'bearer_malformed' }
const UNKNOWN: Verdict = { active: false, step: 'bearer_inactive' }

/**
 * Starts from inactive and earns active: well-formed, on record, not revoked, not expired, and of its key's present
 * epoch. No write, and on a hit no read and no promise. Throws StoreUnavailable where nobody can tell.
 */
export function verdictOf(memory: Memory, accessToken: string): Verdict | Promise<Verdict> {
  const projectId = projectOfToken(accessToken)
  if (projectId === null) return MALFORMED
  const mapKey = hash('sha256', accessToken, 'base64')
  const token = memory.knownToken(mapKey)
  const key = token && memory.knownKey(token.row.key_id, token.row.epoch)
  return token && key ? judge(memory, token, key) : verdictFromStore(memory, projectId, mapKey)
}

function judge(memory: Memory, { row, revoked }: KnownToken, key: KnownKey | undefined): Verdict {
  const now = memory.storeClock.now()
  const alive = !revoked && now < row.expires_at && key?.row.state === 'active' && key.row.epoch === row.epoch
  return alive
    ? { active: true, token: row, key, now }
    : { active: false, step: 'bearer_inactive', keyId: row.key_id, projectId: row.project_id }
}

async function verdictFromStore(memory: Memory, projectId: string, mapKey: string): Promise<Verdict> {
  const token = memory.knownToken(mapKey) ?? (await memory.freshToken(projectId, mapKey))
  if (!token) return UNKNOWN
  const { key_id, epoch } = token.row
  return judge(memory, token, memory.knownKey(key_id, epoch) ?? (await memory.freshKey(projectId, key_id)))
}
