import { CREDENTIAL_PREFIX } from '../contract/ids.ts'
import { type ApiRequest, addressOf, contentOf } from './call-api.ts'

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const OPERATOR = ['X-Management-Id: $JETON_MANAGEMENT_ID', 'X-Management-Token: $JETON_MANAGEMENT_TOKEN']
const CLIENT = ['X-App-Id: $APP_ID', 'X-App-Token: $APP_TOKEN']
const BEARER = ['Authorization: Bearer $TOKEN']

function credentialLines({ credential }: ApiRequest): readonly string[] {
  if (!credential) return OPERATOR
  return 'authorization' in credential ? BEARER : CLIENT
}

const formField = ([name, value]: [string, string]): string =>
  `--data-urlencode ${value.startsWith(CREDENTIAL_PREFIX.access_token) ? `"${name}=$TOKEN"` : quoted(`${name}=${value}`)}`

/** The request as one would type it. Credentials stay shell variables: such lines end up in tickets and chats. */
export function curlLine(url: string, request: ApiRequest): string {
  const content = contentOf(request)
  const method = request.method === (content ? 'POST' : 'GET') ? '' : ` -X ${request.method}`
  const lines = [`curl -s${method} ${quoted(addressOf(url, request))}`]
  for (const header of credentialLines(request)) lines.push(`-H "${header}"`)
  for (const header of Object.entries(request.headers ?? {})) lines.push(`-H ${quoted(header.join(': '))}`)
  if (content && !request.form) lines.push(`-H ${quoted(`Content-Type: ${content.type}`)}`)
  if (request.form) lines.push(...Object.entries(request.form).map(formField))
  else if (content) lines.push(`-d ${quoted(content.text)}`)
  return lines.join(' \\\n  ')
}
