import { METHODS } from 'node:http'
import { isIP } from 'node:net'
import type { Command } from 'commander'
import { CREDENTIAL_PREFIX } from '../contract/ids.ts'
import { didYouMean } from '../platform/closest.ts'
import { openSession, type Session } from './call-api.ts'
import { addConnectionOptions, type ConnectionOptions } from './connection.ts'
import { EXIT, ExitWith, wrongUsage } from './exit.ts'
import { exampleText } from './format.ts'
import { type Io, printLine } from './io.ts'
import { PROJECT_TEXT } from './key-pair.ts'
import { printSteps } from './print.ts'
import { projectId, type Resource, resolveReference, UUID } from './resolve.ts'

const COMMON_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

interface Answer {
  readonly allowed: boolean
  readonly steps: readonly { readonly passed: boolean; readonly says: string }[]
  readonly remedy: string | null
}

interface Call {
  /** An access token, or the id, app id or name of a key. */
  readonly credential: string
  readonly method: string
  readonly path: string
}

interface CheckOptions extends ConnectionOptions {
  readonly json?: boolean
  readonly from?: string
  readonly project?: string
}

/** Prints whether a token or key is allowed to make a call, step by step. Exit code 1 if not. */
export async function checkCall(io: Io, asked: Call, options: CheckOptions): Promise<void> {
  const { from } = options
  const call = validated(asked, from)
  const session = openSession(io, options)
  const body = {
    ...(await subjectOf(session, asked.credential)),
    path: asked.path,
    ...(from !== undefined && { address: from }),
  }
  const answer = await session.call({ method: 'POST', path: '/management/v1/access-checks', body })
  const { allowed, steps, remedy } = answer.json as Answer
  if (options.json) printLine(io, answer.text)
  else {
    printLine(io, `${call}${from ? `   from ${from}` : ''}   ${allowed ? 'allowed' : 'refused'}`)
    printSteps(io, steps, remedy)
  }
  if (!allowed) throw new ExitWith(EXIT.refused)
}

/** `GET /v1/rewards`; throws if there is no such method, path or address. */
function validated({ method: typed, path }: Call, from: string | undefined): string {
  const method = typed.toUpperCase()
  if (!METHODS.includes(method))
    throw wrongUsage(
      `${JSON.stringify(typed)} is not an HTTP method.${didYouMean(method, COMMON_METHODS)} Such as: ${COMMON_METHODS.join(', ')}.`,
    )
  if (!path.startsWith('/'))
    throw wrongUsage(`${JSON.stringify(path)} is not a path. It starts with /, such as /v1/rewards.`)
  if (from !== undefined && isIP(from) === 0)
    throw wrongUsage(`--from: ${JSON.stringify(from)} is not an IP address, such as 10.0.0.4.`)
  return `${method} ${path}`
}

async function subjectOf(session: Session, typed: string): Promise<Record<string, string>> {
  if (typed.startsWith(CREDENTIAL_PREFIX.access_token)) return { access_token: typed }
  if (UUID.test(typed)) return { app_id: typed }
  const project = await projectId(session)
  const id = await resolveReference(session, { noun: 'key', typed, projectId: project })
  const path = `/management/v1/projects/${project}/api-keys/${encodeURIComponent(id)}`
  return { app_id: String(((await session.call({ method: 'GET', path })).json as Resource).app_id) }
}

export function addCheck(program: Command, io: Io): void {
  const command = program
    .command('check')
    .summary('is this token or key allowed to make this call?')
    .description(
      'Checks whether a token or key is allowed to call a path, step by step, and how to fix it. Exit code 1 if not.',
    )
    .argument('<credential>', 'access token (jtn_…), or name, id or app id of a key')
    .argument('<method>', 'GET, POST, … (does not change the result)')
    .argument('<path>', '/v1/… or /client/v1/…')
    .option('--from <address>', 'IP address of the caller')
    .option('--project <project>', `project of the key: ${PROJECT_TEXT}`)
    .option('--json', 'raw API response')
    .addHelpText(
      'after',
      exampleText([
        'jeton check Quickstart GET /v1/rewards',
        'jeton check "$TOKEN" GET /v1/rewards --from 10.0.0.4',
      ]),
    )
  addConnectionOptions(command)
  command.action((credential, method, path, options) => checkCall(io, { credential, method, path }, options))
}
