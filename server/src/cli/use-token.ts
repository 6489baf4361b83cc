import { type Answer, type ApiRequest, callApi } from './call-api.ts'
import type { ConnectionOptions } from './connection.ts'
import { curlLine } from './curl.ts'
import { type Io, printLine, remark } from './io.ts'
import { type KeyPairOptions, keyPair } from './key-pair.ts'
import type { Output } from './print-answer.ts'
import { printFields } from './print-table.ts'
import { openSession } from './session.ts'

interface KeyOptions extends ConnectionOptions, Output, KeyPairOptions {
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
  const { url, credential } = await keyPair(io, session.connection, options)
  return callApi({ ...session.connection, url }, { ...request, credential })
}

function print(io: Io, { text, json }: Answer, { json: asJson }: Output): void {
  if (asJson) printLine(io, text)
  else printFields(io, json as Fields)
}
