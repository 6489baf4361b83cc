import { WEBHOOK_SECRET_PREFIX } from '../../contract/ids.ts'
import type { Vault } from '../../platform/encryption.ts'
import { last4, newSigningSecret, type RandomBytes } from '../../platform/secrets.ts'
import type { DestinationRow } from './destination.store.ts'

/** Does not contain the column name, because a secret moves to `previous_secret` without being encrypted again. */
const contextOf = ({ project_id, id }: Pick<DestinationRow, 'project_id' | 'id'>): string =>
  `destinations/${project_id}/${id}/secret`

interface NewSecret {
  /** Shown only once. */
  readonly shown: string
  readonly stored: Pick<DestinationRow, 'secret' | 'secret_last4'>
}

export function makeSecret(
  { vault, random }: { vault: Vault; random: RandomBytes },
  owner: Pick<DestinationRow, 'project_id' | 'id'>,
): NewSecret {
  const shown = newSigningSecret(random, WEBHOOK_SECRET_PREFIX)
  return { shown, stored: { secret: vault.seal(shown, contextOf(owner)), secret_last4: last4(shown) } }
}

/** Encrypts the same secrets with the current key. */
export const reencryptSecretsOf = (
  vault: Vault,
  row: DestinationRow,
): Pick<DestinationRow, 'secret' | 'previous_secret'> => {
  const reencrypt = (sealed: string) => vault.seal(vault.open(sealed, contextOf(row)), contextOf(row))
  return {
    secret: reencrypt(row.secret),
    previous_secret: row.previous_secret === null ? null : reencrypt(row.previous_secret),
  }
}

type SecretOwner = Pick<DestinationRow, 'project_id' | 'id' | 'secret' | 'previous_secret' | 'previous_until'>

/** Decrypts the secrets that sign now: the current one first, then the previous one during its overlap. */
export function openSecrets(vault: Vault, row: SecretOwner, now: number): string[] {
  const { secret, previous_secret, previous_until } = row
  const context = contextOf(row)
  const isAlone = previous_secret === null || now >= (previous_until ?? 0)
  return isAlone
    ? [vault.open(secret, context)]
    : [vault.open(secret, context), vault.open(previous_secret, context)]
}
