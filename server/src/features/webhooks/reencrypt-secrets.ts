import { Problem } from '../../contract/problem.ts'
import { keyIdIn, type Vault } from '../../platform/encryption.ts'
import type { Actor } from '../../platform/http/index.ts'
import { changeDestination } from './change-destination.ts'
import type { DestinationDeps } from './create-destination.ts'
import { type DestinationRow, listDestinationsAfter } from './destination.store.ts'
import { reencryptHeaders, sealedHeadersOf } from './extra-headers.ts'
import { reencryptSecretsOf } from './signing-secret.ts'

/** Result, counted in stored values: a destination has one or two secrets, and its headers. */
export interface Reencryption {
  /** Values that were already encrypted with the current key. */
  readonly present: number
  readonly changed: number
  /** Destinations with a value that none of the keys can decrypt. */
  readonly failed: readonly { readonly id: string; readonly why: string }[]
}

interface Deps extends Pick<DestinationDeps, 'db' | 'random'> {
  readonly vault: Vault
  /** Id of the current encryption key. */
  readonly keyId: string
}

const sealedIn = (row: DestinationRow): string[] => [
  row.secret,
  ...(row.previous_secret === null ? [] : [row.previous_secret]),
  ...Object.values(sealedHeadersOf(row)),
]

/**
 * Encrypts with the current key all values that an earlier key encrypted, one destination at a time, so that the earlier
 * key can be removed. It can be interrupted and restarted. Services may run meanwhile if they have both keys.
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
      reencrypted(deps.vault, row)
      if (!plan) await change(deps, row, actor)
      result.changed += old
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      // The destination was deleted since it was read.
      if (error.key !== 'not_found') result.failed.push({ id: row.id, why: error.message })
    }
  }
}

const reencrypted = (vault: Vault, row: DestinationRow): Partial<DestinationRow> => ({
  ...reencryptSecretsOf(vault, row),
  headers: reencryptHeaders(vault, row),
})

const change = (deps: Deps, { project_id, kind, id }: DestinationRow, actor: Actor) =>
  changeDestination(
    deps,
    { projectId: project_id, kind, id, actor },
    { action: 'reencrypted', apply: (row) => reencrypted(deps.vault, row) },
  )
