import { type Answer, type ApiRequest, callApi } from './call-api.ts'
import { type ConnectionOptions, nameServer } from './connection.ts'
import { curlLine } from './curl.ts'
import { type Io, printLine, remark } from './io.ts'
import { type KeyPairOptions, keyPair } from './key-pair.ts'
import type { Output } from './print-answer.ts'
import { printFields } from './print-table.ts'
import { openSession, type Session } from './session.ts'
import { shellWord } from './shell-word.ts'

interface KeyOptions extends ConnectionOptions, Output, KeyPairOptions {
  readonly project?: string
  readonly curl?: boolean
}

type Fields = Readonly<Record<string, unknown>>

/** What an API client does. */
export async function issueToken(io: Io, options: KeyOptions & { scope: string }): Promise<void> {
  const scope = options.scope
    .split(/[\s,]+/)
    .filter(Boolean)
    .join(' ')
  const session = openSession(io, options)
  if (!options.curl) nameServer(io, session.connection)
  const form = { grant_type: 'client_credentials', scope }
  const answer = await asClient(session, { path: '/v1/oauth/token', form }, options)
  if (!answer) return
  const { access_token } = answer.json as Fields
  if (options.quiet) return printLine(io, String(access_token))
  print(io, answer, options)
  if (options.json) return
  const again = `jeton token issue --scope ${shellWord(scope)} --quiet${session.sameFlags}`
  remark(io, `The token is shown this once. To keep one in a variable: TOKEN=$(${again})`)
}

/** What an API does with the token of its caller. */
export async function introspectToken(
  io: Io,
  token: string,
  options: KeyOptions & { ipAddress?: string },
): Promise<void> {
  const form = { token, ...(options.ipAddress && { ip_address: options.ipAddress }) }
  const answer = await asClient(openSession(io, options), { path: '/v1/oauth/introspect', form }, options)
  if (!answer) return
  const { access_token: _, ...shown } = answer.json as Fields
  if (options.quiet) return printLine(io, shown.active ? 'active' : 'inactive')
  print(io, { ...answer, json: shown }, options)
}

/** Undefined where only the curl command was wanted. */
async function asClient(
  session: Session,
  asked: { path: string; form: Record<string, string> },
  options: KeyOptions,
): Promise<Answer | undefined> {
  const { io, connection } = session
  const request: ApiRequest = { method: 'POST', ...asked, credential: {} }
  if (options.curl) return void printLine(io, curlLine(connection.apiUrl, request))
  const { credential } = await keyPair(session, options)
  return callApi({ ...connection, url: connection.apiUrl }, { ...request, credential })
}

function print(io: Io, { text, json }: Answer, { json: asJson }: Output): void {
  if (asJson) printLine(io, text)
  else printFields(io, json as Fields)
}
