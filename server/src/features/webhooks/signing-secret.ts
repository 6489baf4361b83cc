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

/** The same secrets, under the key that the vault seals with now. */
export const sealSecretsAnew = (
  vault: Vault,
  row: DestinationRow,
): Pick<DestinationRow, 'secret' | 'previous_secret'> => {
  const anew = (sealed: string) => vault.seal(vault.open(sealed, placeOf(row)), placeOf(row))
  return {
    secret: anew(row.secret),
    previous_secret: row.previous_secret === null ? null : anew(row.previous_secret),
  }
}

/** What signs now: the secret, and the one before it while both count. The new one comes first. */
type Keeper = Pick<DestinationRow, 'project_id' | 'id' | 'secret' | 'previous_secret' | 'previous_until'>

export function openSecrets(vault: Vault, row: Keeper, now: number): string[] {
  const { secret, previous_secret, previous_until } = row
  const place = placeOf(row)
  const isAlone = previous_secret === null || now >= (previous_until ?? 0)
  return isAlone
    ? [vault.open(secret, place)]
    : [vault.open(secret, place), vault.open(previous_secret, place)]
}
