import { openStore } from '../app/compose.ts'
import { readKeys } from '../app/encryption-keys.ts'
import { planOf } from '../app/plan-migrations.ts'
import { type Reencryption, reencryptSecrets } from '../features/webhooks/index.ts'
import { systemClock } from '../platform/clock.ts'
import { type Config, readConfig } from '../platform/config/index.ts'
import type { Database } from '../platform/database/index.ts'
import { createVault, keyIdOf } from '../platform/encryption.ts'
import type { Actor } from '../platform/http/index.ts'
import { randomBytes } from '../platform/secrets.ts'
import { CommandFailure, EXIT, ExitWith } from './exit.ts'
import { type Io, printLine, remark } from './io.ts'
import { noStore, openExisting, storeExists } from './store.ts'

const ACTOR: Actor = { type: 'system', id: 'command-line', address: null, requestId: null }

interface Options {
  readonly plan?: boolean
  readonly json?: boolean
}

/** Re-encrypts all stored secrets with the first key. */
export async function rotateEncryptionKey(io: Io, { plan = false, json }: Options): Promise<void> {
  const config = readConfig(io.env)
  const db = await openToRotate(config, plan)
  try {
    const [key, ...earlier] = await readKeys(db, config)
    if (!key) throw noKey(config)
    const vault = createVault(key, randomBytes, earlier)
    const deps = { db, random: randomBytes, vault, keyId: keyIdOf(key) }
    const result = await reencryptSecrets(deps, { actor: ACTOR, plan })
    if (json) printLine(io, JSON.stringify({ key_id: deps.keyId, planned: plan, ...result }))
    else printReport(io, { ...result, plan, keyId: deps.keyId, earlier: earlier.length })
    if (result.failed.length > 0) throw new ExitWith(EXIT.refused)
  } finally {
    await db.close()
  }
}

const noKey = (config: Config): CommandFailure =>
  new CommandFailure(
    config.JETON_DATABASE_URL === undefined
      ? 'There is no encryption key yet, and nothing is encrypted.'
      : 'JETON_ENCRYPTION_KEY is not set. Set it to <new key>,<old key>, as in the services.',
    EXIT.configuration,
  )

/** A plan writes nothing: it neither creates a store nor migrates it. */
async function openToRotate(config: Config, plan: boolean): Promise<Database> {
  if (!storeExists(config)) throw noStore(config)
  if (!plan) return (await openStore({ config, clock: systemClock })).db
  const db = await openExisting(config)
  const { applied } = await planOf(db)
  if (applied.length === 0) return db
  await db.close()
  throw new CommandFailure(`${db.label} is not up to date. Run first: jeton migrate`, EXIT.configuration)
}

interface Report extends Reencryption {
  readonly plan: boolean
  readonly keyId: string
  readonly earlier: number
}

function printReport(io: Io, { plan, keyId, earlier, present, changed, failed }: Report): void {
  printLine(
    io,
    `Key ${keyId}: ${present} already encrypted with it, ${changed} ${plan ? 'to be re-encrypted' : 're-encrypted'}.`,
  )
  for (const { id, why } of failed) remark(io, `${id}: ${why}`)
  if (failed.length > 0)
    remark(
      io,
      'Add the missing key to JETON_ENCRYPTION_KEY and repeat, or replace the secret: jeton webhook rotate <webhook>',
    )
  else if (plan || earlier === 0) return
  else remark(io, 'The other keys are no longer needed. Remove them and restart every process.')
}
