import type { Command } from 'commander'
import { CREDENTIAL_PREFIX } from '../contract/ids.ts'
import { isScope, wildcardScopeOf } from '../contract/scopes.ts'
import { openSession, type Session } from './call-api.ts'
import { addConnectionOptions, type ConnectionOptions } from './connection.ts'
import { wrongUsage } from './exit.ts'
import { exampleText, shellWord, TERMINAL_COLUMNS } from './format.ts'
import { type Io, printLine } from './io.ts'
import { printSteps } from './print.ts'
import { UUID } from './resolve.ts'

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
  readonly original_path: string | null
  readonly required_scope: string | null
}

/** Fields of a key that a remedy uses. */
interface ShownKey {
  readonly name: string
  readonly permissions?: readonly string[]
  readonly ip_whitelist?: readonly string[]
}

/** Names for people; null if there is none, or it was deleted. */
interface Names {
  readonly project: string | null
  readonly key: ShownKey | null
}

/** Prints which check a request failed, and how to fix it. */
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
  printSteps(io, refusal.steps, remedyOf(refusal, names))
}

/** Only request ids can be looked up. A token must not be sent, because URLs end up in logs. */
function refuseOthers(id: string): void {
  const isToken = id.startsWith(CREDENTIAL_PREFIX.access_token)
  if (!isToken && !UUID.test(id)) return
  const what = isToken ? 'a token' : 'an app id'
  throw wrongUsage(
    `This is ${what}; jeton explain takes the request_id of a response, v-….\nCheck what it is allowed to do: jeton check ${isToken ? '"$TOKEN"' : id} GET /v1/rewards\nRecent refusals: jeton refusal list`,
  )
}

function heading(
  io: Io,
  { method, path, original_path, at, status, key, address, socket_address, forwarded }: Refusal,
): string {
  const time = io.isTTY ? localTime(at) : at
  const behind = address === socket_address ? '' : ` (socket ${socket_address})`
  const said = forwarded && address === socket_address ? `   X-Forwarded-For ${forwarded}, not trusted` : ''
  const about = original_path === null ? '' : ` for ${original_path}`
  const first = `${method} ${path}${about}   ${time}   answered ${status} ${key}`
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

/** Null if it cannot be read: a deleted key must not hide why the request was refused. */
async function readAt(session: Session, path: string): Promise<ShownKey | null> {
  try {
    return (await session.call({ method: 'GET', path })).json as ShownKey
  } catch {
    return null
  }
}

/** Fills the key and its current lists into the remedy, so that it can be pasted. */
function remedyOf({ remedy, address, required_scope: scope }: Refusal, { key }: Names): string {
  if (!key) return remedy
  const { name, ip_whitelist = [], permissions = [] } = key
  return (isNamed(scope) ? remedy : remedy.replace(/: jeton key update <key> --permissions …/, '.'))
    .replaceAll('<key>', () => shellWord(name))
    .replace('--ip-whitelist …', () => `--ip-whitelist ${[...ip_whitelist, address].join(',')}`)
    .replace('--permissions …', () => `--permissions ${[...permissions, scope].join(',')}`)
}

/** False for a path that no scope names: it is probably misspelled, and more permissions would not help. */
const isNamed = (scope: string | null): boolean =>
  scope !== null && isScope(scope) && scope !== wildcardScopeOf(scope)

export function addExplain(program: Command, io: Io): void {
  const command = program
    .command('explain')
    .summary('why a request was refused, step by step')
    .description(
      'Shows which check a request failed and how to fix it. Refusals (401, 403, 429) are kept for 24 h; repeats are sampled at 6 per minute.',
    )
    .argument('<request>', 'request_id of the response: v-…, also in X-Request-Id')
    .option('--json', 'raw API response')
    .addHelpText(
      'after',
      exampleText(['jeton explain v-0f2a91c77be3d04411', 'jeton refusal list   # recent refusals']),
    )
  addConnectionOptions(command)
  command.action((id, options) => explain(io, id, options))
}
