import type { Answer, ApiRequest } from './call-api.ts'
import type { ConnectionOptions } from './connection.ts'
import { curlLine } from './curl.ts'
import { wrongUsage } from './exit.ts'
import { type Io, printLine, remark } from './io.ts'
import { secret } from './login.ts'
import type { Output } from './print-answer.ts'
import { printFields } from './print-table.ts'
import { openSession } from './session.ts'

interface KeyOptions extends ConnectionOptions, Output {
  readonly appId?: string
  readonly appToken?: string
  readonly curl?: boolean
}

type Fields = Readonly<Record<string, unknown>>

/** What an API client does. */
export async function issueToken(io: Io, options: KeyOptions & { scope: string }): Promise<void> {
  const scope = options.scope
    .split(/[\s,]+/)
    .filter(Boolean)
    .join(' ')
  const answer = await asClient(io, '/v1/oauth/token', { grant_type: 'client_credentials', scope }, options)
  if (!answer) return
  const { access_token } = answer.json as Fields
  if (options.quiet) return printLine(io, String(access_token))
  print(io, answer, options)
  if (!options.json) remark(io, 'The token is shown this once. Use it: -H "Authorization: Bearer jtn_…"')
}

/** What an API does with the token of its caller. */
export async function introspectToken(
  io: Io,
  token: string,
  options: KeyOptions & { ipAddress?: string },
): Promise<void> {
  const form = { token, ...(options.ipAddress && { ip_address: options.ipAddress }) }
  const answer = await asClient(io, '/v1/oauth/introspect', form, options)
  if (!answer) return
  const { access_token: _, ...shown } = answer.json as Fields
  if (options.quiet) return printLine(io, shown.active ? 'active' : 'inactive')
  print(io, { ...answer, json: shown }, options)
}

/** Undefined where only the curl command was wanted. */
async function asClient(
  io: Io,
  path: string,
  form: Record<string, string>,
  options: KeyOptions,
): Promise<Answer | undefined> {
  const session = openSession(io, options)
  const request: ApiRequest = { method: 'POST', path, form, credential: {} }
  if (options.curl) return void printLine(io, curlLine(session.connection.url, request))
  const appId = options.appId ?? (await io.ask?.('App id: '))
  if (!appId) throw wrongUsage('--app-id is needed: the app id of an API key. See: jeton key list --json')
  const appToken = options.appToken ?? (await secret(io, 'App token (not shown): '))
  return session.call({ ...request, credential: { 'x-app-id': appId, 'x-app-token': appToken } })
}

function print(io: Io, { text, json }: Answer, { json: asJson }: Output): void {
  if (asJson) printLine(io, text)
  else printFields(io, json as Fields)
}
