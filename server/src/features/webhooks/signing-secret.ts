import { WEBHOOK_SECRET_PREFIX } from '../../contract/ids.ts'
import type { Vault } from '../../platform/encryption.ts'
import { last4, newSigningSecret, type RandomBytes } from '../../platform/secrets.ts'
import type { DestinationRow } from './destination.store.ts'

/** Not by field: a secret that becomes the previous one stays as it was encrypted. */
const placeOf = ({ project_id, id }: Pick<DestinationRow, 'project_id' | 'id'>): string =>
  `destinations/${project_id}/${id}/secret`

interface NewSecret {
  /** Shown this once. */
  readonly shown: string
  readonly stored: Pick<DestinationRow, 'secret' | 'secret_last4'>
}

export function makeSecret(
  { vault, random }: { vault: Vault; random: RandomBytes },
  owner: Pick<DestinationRow, 'project_id' | 'id'>,
): NewSecret {
  const shown = newSigningSecret(random, WEBHOOK_SECRET_PREFIX)
  return { shown, stored: { secret: vault.seal(shown, placeOf(owner)), secret_last4: last4(shown) } }
}

/** What signs now: the secret, and the one before it while both count. The new one comes first. */
type Keeper = Pick<DestinationRow, 'project_id' | 'id' | 'secret' | 'previous_secret' | 'previous_until'>

export function openSecrets(vault: Vault, row: Keeper, now: number): string[] {
  const { secret, previous_secret, previous_until } = row
  const both = previous_secret !== null && now < (previous_until ?? 0)
  return [secret, ...(both ? [previous_secret] : [])].map((sealed) => vault.open(sealed, placeOf(row)))
}
