import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import {
  type KeyAddressRow,
  type KeyUse,
  MAX_ADDRESSES,
  saveKeyAddresses,
  saveKeyUse,
} from '../api-keys/index.ts'
import type { CachedKey } from './cached-key.ts'

/** Precise enough for people. Every update of a key touches four indexes. */
const PRECISION_MS = 60_000

type Secret = KeyAddressRow['secret']

/** Records when and from where keys were last used, to the minute: collected in memory and written in batches. */
export class LastUsedTracker {
  readonly #clock: Clock
  /** Addresses seen in this minute, by key; those of the previous secret have a mark. */
  #recorded = new Map<string, Set<string>>()
  #recordedSince = 0
  #uses: KeyUse[] = []
  #addresses: KeyAddressRow[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Called by every request. */
  record(key: CachedKey, address: string | null, secret: Secret = 'current'): void {
    const { id, project_id } = key.row
    let addresses = this.#recorded.get(id)
    if (!addresses) {
      addresses = new Set()
      this.#recorded.set(id, addresses)
      this.#uses.push({ projectId: project_id, id, at: this.#clock.now() })
    }
    if (address === null) return
    const name = secret === 'current' ? address : `previous ${address}`
    if (addresses.size >= MAX_ADDRESSES || addresses.has(name)) return
    addresses.add(name)
    this.#addresses.push({ project_id, key_id: id, address, secret, last_used_at: this.#clock.now() })
  }

  async flush(db: Database): Promise<void> {
    const now = this.#clock.now()
    if (Math.abs(now - this.#recordedSince) >= PRECISION_MS) {
      this.#recordedSince = now
      this.#recorded = new Map()
    }
    const [uses, addresses] = [this.#uses.splice(0), this.#addresses.splice(0)]
    if (uses.length + addresses.length === 0) return
    // Uses that cannot be written now are recorded again by the next request.
    let unwritten = [...uses.map(({ id }) => id), ...addresses.map(({ key_id }) => key_id)]
    try {
      unwritten = await db.transaction(async (tx) => {
        if (addresses.length > 0) await saveKeyAddresses(tx, addresses)
        return saveKeyUse(tx, uses)
      })
    } finally {
      for (const id of unwritten) this.#recorded.delete(id)
    }
  }
}
