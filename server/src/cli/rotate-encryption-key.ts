import { openKeys, openStore } from '../app/compose.ts'
import { type Reencryption, reencryptSecrets } from '../features/webhooks/index.ts'
import { systemClock } from '../platform/clock.ts'
import { readConfig } from '../platform/config/index.ts'
import { createVault, keyIdOf } from '../platform/encryption.ts'
import type { Actor } from '../platform/http/index.ts'
import { randomBytes } from '../platform/secrets.ts'
import { CommandFailure, EXIT, ExitWith } from './exit.ts'
import { type Io, printLine, remark } from './io.ts'

const ACTOR: Actor = { type: 'system', id: 'command-line', address: null, requestId: null }

interface Options {
  readonly plan?: boolean
  readonly json?: boolean
}

/** Moves everything that is stored encrypted under the first key, in the store that the settings name. */
export async function rotateEncryptionKey(io: Io, { plan = false, json }: Options): Promise<void> {
  const config = readConfig(io.env)
  const { db } = await openStore({ config, clock: systemClock })
  try {
    const [key, ...earlier] = openKeys(db, config)
    if (!key)
      throw new CommandFailure(
        'JETON_ENCRYPTION_KEY is not set. Set it to <new key>,<old key>, as the services have it.',
        EXIT.configuration,
      )
    const vault = createVault(key, randomBytes, earlier)
    const deps = { db, random: randomBytes, vault, keyId: keyIdOf(key) }
    const result = await reencryptSecrets(deps, { actor: ACTOR, plan })
    if (json) printLine(io, JSON.stringify({ key_id: deps.keyId, planned: plan, ...result }))
    else tell(io, { ...result, plan, keyId: deps.keyId, earlier: earlier.length })
    if (result.failed.length > 0) throw new ExitWith(EXIT.refused)
  } finally {
    await db.close()
  }
}

interface Told extends Reencryption {
  readonly plan: boolean
  readonly keyId: string
  readonly earlier: number
}

function tell(io: Io, { plan, keyId, earlier, present, changed, failed }: Told): void {
  printLine(
    io,
    `Under the key ${keyId}: ${present} before, ${changed} ${plan ? 'to be encrypted anew' : 'encrypted anew'}.`,
  )
  for (const { id, why } of failed) remark(io, `${id}: ${why}`)
  if (failed.length > 0)
    remark(io, 'Add the missing key to JETON_ENCRYPTION_KEY and repeat, or: jeton webhook rotate <webhook>')
  else if (plan || earlier === 0) return
  else remark(io, 'Nothing needs the other keys any more: take them away and restart every process.')
}
