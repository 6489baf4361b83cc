import { CREDENTIAL_PREFIX } from '../contract/ids.ts'
import { type Scope, scopeOfPath, wholeSideOf } from '../contract/scopes.ts'
import type { ConnectionOptions } from './connection.ts'
import { wrongUsage } from './exit.ts'
import { type Io, printLine } from './io.ts'
import { printLadder } from './print-ladder.ts'
import { UUID } from './resolve.ts'
import { openSession, type Session } from './session.ts'
import { shellWord } from './shell-word.ts'
import { TERMINAL_COLUMNS } from './wrapped.ts'

interface Refusal {
  readonly request_id: string
  readonly at: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly key: string
  readonly steps: readonly { readonly passed: boolean; readonly says: string }[]
  readonly remedy: string
  readonly project_id: string | null
  readonly key_id: string | null
  readonly address: string | null
  readonly socket_address: string
  readonly forwarded: string | null
}

/** What a remedy is made of. */
interface ShownKey {
  readonly name: string
  readonly permissions?: readonly string[]
  readonly ip_whitelist?: readonly string[]
}

/** For people; null where there is none, or it is gone. */
interface Names {
  readonly project: string | null
  readonly key: ShownKey | null
}

/** Which check a request failed, and what would mend it. */
export async function explain(
  io: Io,
  id: string,
  options: ConnectionOptions & { json?: boolean },
): Promise<void> {
  refuseOthers(id)
  const session = openSession(io, options)
  const answer = await session.call({
    method: 'GET',
    path: `/management/v1/refusals/${encodeURIComponent(id)}`,
  })
  if (options.json) return printLine(io, answer.text)
  const refusal = answer.json as Refusal
  const names = await namesIn(session, refusal)
  printLine(io, heading(io, refusal))
  if (names.key)
    printLine(io, `  key ${JSON.stringify(names.key.name)} of project ${names.project ?? refusal.project_id}`)
  printLadder(io, refusal.steps, remedyOf(refusal, names))
}

/** Only requests are on record. A token must not even be sent: the address of a request ends up in logs. */
function refuseOthers(id: string): void {
  const isToken = id.startsWith(CREDENTIAL_PREFIX.access_token)
  if (!isToken && !UUID.test(id)) return
  const what = isToken ? 'a token' : 'an app id'
  throw wrongUsage(
    `This is ${what}; jeton explain takes the request_id of an answer, v-….\nWhat it may do, step by step: jeton check ${isToken ? '"$TOKEN"' : id} GET /v1/rewards\nThe latest refusals: jeton refusal list`,
  )
}

function heading(
  io: Io,
  { method, path, at, status, key, address, socket_address, forwarded }: Refusal,
): string {
  const time = io.isTTY ? localTime(at) : at
  const behind = address === socket_address ? '' : ` (socket ${socket_address})`
  const said = forwarded && address === socket_address ? `   X-Forwarded-For ${forwarded}, not believed` : ''
  const first = `${method} ${path}   ${time}   answered ${status} ${key}`
  const from = `from ${address ?? 'an unknown address'}${behind}${said}`
  const fits = !io.isTTY || first.length + from.length + 3 <= TERMINAL_COLUMNS
  return fits ? `${first}   ${from}` : `${first}\n  ${from}`
}

const localTime = (at: string): string => {
  const date = new Date(at)
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

async function namesIn(session: Session, { project_id, key_id }: Refusal): Promise<Names> {
  if (!project_id) return { project: null, key: null }
  const project = `/management/v1/projects/${project_id}`
  return {
    project: (await readAt(session, project))?.name ?? null,
    key:
      key_id === null ? null : ((await readAt(session, `${project}/api-keys/${key_id}`)) ?? { name: key_id }),
  }
}

/** What was refused may be gone by now; that must not hide why it was. */
async function readAt(session: Session, path: string): Promise<ShownKey | null> {
  try {
    return (await session.call({ method: 'GET', path })).json as ShownKey
  } catch {
    return null
  }
}

/** The remedy as it can be typed: with the key, its lists and what is missing in them. */
function remedyOf({ remedy, address, path }: Refusal, { key }: Names): string {
  if (!key) return remedy
  const { name, ip_whitelist = [], permissions = [] } = key
  const scope = scopeOfPath(path.split('?', 1)[0]!)
  return (isNamed(scope) ? remedy : remedy.replace(/: jeton key update <key> --permissions …/, '.'))
    .replaceAll('<key>', () => shellWord(name))
    .replace('--ip-whitelist …', () => `--ip-whitelist ${[...ip_whitelist, address].join(',')}`)
    .replace('--permissions …', () => `--permissions ${[...permissions, scope].join(',')}`)
}

/** A path that no scope names is probably misspelt: nobody is advised to permit everything for it. */
const isNamed = (scope: Scope | null): boolean => scope !== null && scope !== wholeSideOf(scope)
