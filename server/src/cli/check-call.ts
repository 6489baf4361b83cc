import type { ConnectionOptions } from './connection.ts'
import { EXIT, ExitWith } from './exit.ts'
import { type Io, printLine } from './io.ts'
import { printLadder } from './print-ladder.ts'
import { openSession } from './session.ts'

interface Answer {
  readonly allowed: boolean
  readonly steps: readonly { readonly passed: boolean; readonly says: string }[]
  readonly remedy: string | null
}

interface Asked {
  /** An access token, or the app id of a key. */
  readonly credential: string
  readonly method: string
  readonly path: string
}

/** May this token or key make this call? Every step, and what would mend it. Not allowed is exit code 1. */
export async function checkCall(
  io: Io,
  { credential, method, path }: Asked,
  options: ConnectionOptions & { json?: boolean; from?: string },
): Promise<void> {
  const holder = credential.startsWith('jtn_') ? { access_token: credential } : { app_id: credential }
  const body = { ...holder, path, ...(options.from !== undefined && { address: options.from }) }
  const answer = await openSession(io, options).call({
    method: 'POST',
    path: '/management/v1/access-checks',
    body,
  })
  const { allowed, steps, remedy } = answer.json as Answer
  if (options.json) printLine(io, answer.text)
  else {
    printLine(
      io,
      `${method} ${path}${options.from ? `   from ${options.from}` : ''}   ${allowed ? 'allowed' : 'refused'}`,
    )
    printLadder(io, steps, remedy)
  }
  if (!allowed) throw new ExitWith(EXIT.refused)
}
