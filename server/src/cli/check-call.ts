import { METHODS } from 'node:http'
import { isIP } from 'node:net'
import { CREDENTIAL_PREFIX } from '../contract/ids.ts'
import { didYouMean } from '../platform/closest.ts'
import type { ConnectionOptions } from './connection.ts'
import { EXIT, ExitWith, wrongUsage } from './exit.ts'
import { type Io, printLine } from './io.ts'
import type { Resource } from './pages.ts'
import { printLadder } from './print-ladder.ts'
import { projectId, resolveReference, UUID } from './resolve.ts'
import { openSession, type Session } from './session.ts'

const COMMON_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

interface Answer {
  readonly allowed: boolean
  readonly steps: readonly { readonly passed: boolean; readonly says: string }[]
  readonly remedy: string | null
}

interface Asked {
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

/** Says whether a token or key may make a call: every step, and what would fix it. Not allowed is exit code 1. */
export async function checkCall(io: Io, asked: Asked, options: CheckOptions): Promise<void> {
  const { from } = options
  const call = refuseNonsense(asked, from)
  const session = openSession(io, options)
  const body = {
    ...(await holderOf(session, asked.credential)),
    path: asked.path,
    ...(from !== undefined && { address: from }),
  }
  const answer = await session.call({ method: 'POST', path: '/management/v1/access-checks', body })
  const { allowed, steps, remedy } = answer.json as Answer
  if (options.json) printLine(io, answer.text)
  else {
    printLine(io, `${call}${from ? `   from ${from}` : ''}   ${allowed ? 'allowed' : 'refused'}`)
    printLadder(io, steps, remedy)
  }
  if (!allowed) throw new ExitWith(EXIT.refused)
}

/** `GET /v1/rewards`, if there can be such a call. */
function refuseNonsense({ method: typed, path }: Asked, from: string | undefined): string {
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

async function holderOf(session: Session, typed: string): Promise<Record<string, string>> {
  if (typed.startsWith(CREDENTIAL_PREFIX.access_token)) return { access_token: typed }
  if (UUID.test(typed)) return { app_id: typed }
  const project = await projectId(session)
  const id = await resolveReference(session, { noun: 'key', typed, projectId: project })
  const path = `/management/v1/projects/${project}/api-keys/${encodeURIComponent(id)}`
  return { app_id: String(((await session.call({ method: 'GET', path })).json as Resource).app_id) }
}
