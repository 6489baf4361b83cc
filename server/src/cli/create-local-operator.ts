import { openStore } from '../app/compose.ts'
import { createOperator } from '../features/operators/index.ts'
import { systemClock } from '../platform/clock.ts'
import { type Config, readConfig } from '../platform/config/index.ts'
import type { Actor } from '../platform/http/index.ts'
import { randomBytes } from '../platform/secrets.ts'
import { plainUrl } from './connection.ts'
import { wrongUsage } from './exit.ts'
import { type Io, printLine, remark } from './io.ts'
import { printFields } from './print.ts'
import { saveProfile, shownProfilePath } from './profile.ts'

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
