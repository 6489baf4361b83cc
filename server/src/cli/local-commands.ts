import { openStore } from '../app/compose.ts'
import { readKeys } from '../app/encryption-keys.ts'
import { planOf } from '../app/plan-migrations.ts'
import { createOperator } from '../features/operators/index.ts'
import { type Reencryption, reencryptSecrets } from '../features/webhooks/index.ts'
import { systemClock } from '../platform/clock.ts'
import { type Config, readConfig } from '../platform/config/index.ts'
import type { Database } from '../platform/database/index.ts'
import { createVault, keyIdOf } from '../platform/encryption.ts'
import type { Actor } from '../platform/http/index.ts'
import { randomBytes } from '../platform/secrets.ts'
import { plainUrl } from './connection.ts'
import { CommandFailure, EXIT, ExitWith, wrongUsage } from './exit.ts'
import { type Io, printLine, remark } from './io.ts'
import { printFields } from './print.ts'
import { saveProfile, shownProfilePath } from './profile.ts'
import { noStore, openExisting, storeExists } from './store.ts'

const ACTOR: Actor = { type: 'system', id: 'command-line', address: null, requestId: null }

interface LocalOptions {
  readonly name?: string
  readonly role?: string
  readonly projects?: unknown
  readonly url?: string
  readonly json?: boolean
  readonly quiet?: boolean
  readonly save?: boolean
}

/** Writes an operator to the store. Access to the store is the only credential. */
export async function createLocalOperator(io: Io, options: LocalOptions): Promise<void> {
  const name = options.name ?? 'local'
  if (!/^(?=.*\S)[^\x00-\x1f\x7f]{1,100}$/.test(name))
    throw wrongUsage('--name must be 1 to 100 characters, not blank and without control characters.')
  if ((options.role ?? 'admin') !== 'admin' || options.projects)
    throw wrongUsage('--local creates an admin of all projects. Create other roles as that admin.')
  const config = readConfig(io.env)
  const { db } = await openStore({ config, clock: systemClock })
  try {
    const operator = await createOperator(
      { db, random: randomBytes },
      { name, role: 'admin', projects: null, actor: ACTOR },
    )
    show(io, operator, options)
    if (options.save) save(io, options.url ? plainUrl(options.url) : managementUrl(config), operator)
  } finally {
    await db.close()
  }
}

function show(
  io: Io,
  operator: { id: string; name: string; token: string },
  { json, quiet }: LocalOptions,
): void {
  const { id, name, token } = operator
  if (json) printLine(io, JSON.stringify(operator))
  else if (quiet) printLine(io, id)
  else printFields(io, { id, name, token })
  if (quiet) remark(io, `token  ${token}`)
  if (!json) remark(io, 'token is shown only once. Store it now.')
}

function save(io: Io, url: string, { id, token }: { id: string; token: string }): void {
  const { after } = saveProfile(url, { management_id: id, management_token: token }, { env: io.env })
  remark(io, `Saved in ${shownProfilePath(io.env)} for ${url}.`)
  if (after !== url) remark(io, `Commands still go to ${after}. To use this server: export JETON_URL=${url}`)
}

/** The URL under which this machine reaches the service with these settings. */
export function managementUrl({ JETON_URL, JETON_HOST, JETON_PORT, JETON_MANAGEMENT_PORT }: Config): string {
  if (JETON_URL) return JETON_URL
  const host = /^(0\.0\.0\.0|::)$/.test(JETON_HOST) ? '127.0.0.1' : JETON_HOST
  return `http://${host.includes(':') ? `[${host}]` : host}:${JETON_MANAGEMENT_PORT ?? JETON_PORT}`
}

interface RotateOptions {
  readonly plan?: boolean
  readonly json?: boolean
}

/** Re-encrypts all stored secrets with the first key. */
export async function rotateEncryptionKey(io: Io, { plan = false, json }: RotateOptions): Promise<void> {
  const config = readConfig(io.env)
  const db = await openToRotate(config, plan)
  try {
    const [key, ...earlier] = await readKeys(db, config)
    if (!key) throw noKey(config)
    const vault = createVault(key, randomBytes, earlier)
    const deps = { db, random: randomBytes, vault, keyId: keyIdOf(key) }
    const result = await reencryptSecrets(deps, { actor: ACTOR, plan })
    if (json) printLine(io, JSON.stringify({ key_id: deps.keyId, planned: plan, ...result }))
    else printRotation(io, { ...result, plan, keyId: deps.keyId, earlier: earlier.length })
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

interface RotationReport extends Reencryption {
  readonly plan: boolean
  readonly keyId: string
  readonly earlier: number
}

function printRotation(io: Io, { plan, keyId, earlier, present, changed, failed }: RotationReport): void {
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
