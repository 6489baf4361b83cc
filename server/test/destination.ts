import type { DestinationRow } from '../src/features/webhooks/destination.store.ts'
import { sealHeaders } from '../src/features/webhooks/extra-headers.ts'
import { makeSecret } from '../src/features/webhooks/signing-secret.ts'
import type { Vault } from '../src/platform/encryption.ts'
import { randomBytes } from '../src/platform/secrets.ts'

interface Wanted {
  readonly targetUrl: string
  /** Headers of a distribution. */
  readonly headers?: Readonly<Record<string, string>>
  /** End of the time in which the previous secret signs as well. */
  readonly previousUntil?: number
}

interface MadeDestination {
  readonly row: DestinationRow
  readonly secret: string
  readonly previousSecret: string
}

/** A destination as the store returns it, for tests without a store. */
export function makeDestination(
  vault: Vault,
  { targetUrl, headers = {}, previousUntil }: Wanted,
): MadeDestination {
  const owner = { project_id: 'proj_1', id: 'distr_1' }
  const [before, present] = [
    makeSecret({ vault, random: randomBytes }, owner),
    makeSecret({ vault, random: randomBytes }, owner),
  ]
  const row: DestinationRow = {
    ...owner,
    kind: 'distribution',
    name: 'Shop',
    campaign_id: 'camp_1',
    event_name: null,
    headers: sealHeaders(vault, { ...owner, headers: '{}' }, headers),
    target_url: targetUrl,
    events: '[]',
    active: 1,
    disabled_reason: null,
    description: null,
    ...present.stored,
    previous_secret: previousUntil === undefined ? null : before.stored.secret,
    previous_until: previousUntil ?? null,
    failing_since: null,
    released_at: null,
    skips: '[]',
    created_at: 0,
    updated_at: 0,
    deleted_at: null,
  }
  return { row, secret: present.shown, previousSecret: before.shown }
}
