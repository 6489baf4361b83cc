import { Problem } from '../../contract/problem.ts'
import { keyIdIn, type Vault } from '../../platform/encryption.ts'
import type { Actor } from '../../platform/http/index.ts'
import { changeDestination } from './change-destination.ts'
import type { DestinationDeps } from './create-destination.ts'
import { type DestinationRow, listDestinationsAfter } from './destination.store.ts'
import { sealedHeadersOf, sealHeadersAnew } from './extra-headers.ts'
import { sealSecretsAnew } from './signing-secret.ts'

/** What is under which key, and what could not be helped. Counted in stored values: a destination has one secret or two, and its headers. */
export interface Reencryption {
  /** Under the present key, before and after. */
  readonly present: number
  readonly changed: number
  /** Destinations with a value that no key of this process opens, and why. */
  readonly failed: readonly { readonly id: string; readonly why: string }[]
}

interface Deps extends Pick<DestinationDeps, 'db' | 'random'> {
  readonly vault: Vault
  /** Id of the key that the vault seals with. */
  readonly keyId: string
}

const sealedIn = (row: DestinationRow): string[] => [
  row.secret,
  ...(row.previous_secret === null ? [] : [row.previous_secret]),
  ...Object.values(sealedHeadersOf(row)),
]

/**
 * Encrypts under the present key whatever an earlier one encrypted, one destination at a time, so that the earlier one can
 * be taken away. It may be broken off and begun again, and services may run meanwhile if they have both keys.
 */
export async function reencryptSecrets(
  deps: Deps,
  { actor, plan }: { actor: Actor; plan: boolean },
): Promise<Reencryption> {
  const result = { present: 0, changed: 0, failed: [] as { id: string; why: string }[] }
  let after: Pick<DestinationRow, 'project_id' | 'id'> | undefined
  for (;;) {
    const rows = await listDestinationsAfter(deps.db, after)
    for (const row of rows) await one(row)
    after = rows.at(-1)
    if (!after) return result
  }

  async function one(row: DestinationRow): Promise<void> {
    const old = sealedIn(row).filter((sealed) => keyIdIn(sealed) !== deps.keyId).length
    result.present += sealedIn(row).length - old
    if (old === 0) return
    try {
      anew(deps.vault, row)
      if (!plan) await change(deps, row, actor)
      result.changed += old
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      // Gone since it was read: nothing of it is left to encrypt.
      if (error.key !== 'not_found') result.failed.push({ id: row.id, why: error.message })
    }
  }
}

const anew = (vault: Vault, row: DestinationRow): Partial<DestinationRow> => ({
  ...sealSecretsAnew(vault, row),
  headers: sealHeadersAnew(vault, row),
})

const change = (deps: Deps, { project_id, kind, id }: DestinationRow, actor: Actor) =>
  changeDestination(
    deps,
    { projectId: project_id, kind, id, actor },
    { action: 'reencrypted', apply: (row) => anew(deps.vault, row) },
  )
