import { CREDENTIAL_PREFIX } from '../contract/ids.ts'
import { type Connection, type ConnectionOptions, connect } from './connection.ts'
import { CommandFailure, EXIT } from './exit.ts'
import { shellWord } from './format.ts'
import type { Io } from './io.ts'
import { type Catalogue, readCatalogue } from './operations.ts'

export interface ApiRequest {
  readonly method: string
  readonly path: string
  readonly query?: Readonly<Record<string, string>> | undefined
  readonly body?: unknown
  /** OAuth endpoints require a form. */
  readonly form?: Readonly<Record<string, string>> | undefined
  /** Credential of an API client, instead of the operator's. */
  readonly credential?: Readonly<Record<string, string>> | undefined
  /** Further headers, without secrets. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Aborts the request. */
  readonly signal?: AbortSignal | undefined
}

export interface Answer {
  readonly status: number
  /** `X-Request-Id`. Events have it as `group_id`. */
  readonly requestId: string
  /** The unchanged body. */
  readonly text: string
  readonly json: unknown
}

const TIMEOUT_MS = 30_000

export const addressOf = (url: string, { path, query }: ApiRequest): string => {
  const search = new URLSearchParams(query).toString()
  return `${url}${path}${search ? `?${search}` : ''}`
}

function credentialHeaders(connection: Connection): Record<string, string> {
  const { id, token } = connection.credential()
  return { 'x-management-id': id, 'x-management-token': token }
}

export function contentOf({ body, form }: ApiRequest): { type: string; text: string } | undefined {
  if (form) return { type: 'application/x-www-form-urlencoded', text: new URLSearchParams(form).toString() }
  return body === undefined ? undefined : { type: 'application/json', text: JSON.stringify(body) }
}

/** A response with any status. */
export interface RawAnswer {
  readonly response: Response
  readonly text: string
}

/** Sends a request and returns the response with any status. */
export function exchange(connection: Connection, request: ApiRequest): Promise<RawAnswer> {
  const content = contentOf(request)
  return send(connection.url, addressOf(connection.url, request), {
    method: request.method,
    headers: {
      ...(request.credential ?? credentialHeaders(connection)),
      ...request.headers,
      ...(content && { 'content-type': content.type }),
    },
    ...(content && { body: content.text }),
    ...(request.signal && { signal: request.signal }),
  })
}

export async function callApi(connection: Connection, request: ApiRequest): Promise<Answer> {
  const { response, text } = await exchange(connection, request)
  if (response.status >= 400) throw refused(response, text, request.credential ? undefined : connection)
  const requestId = response.headers.get('x-request-id') ?? ''
  const json = text === '' ? null : parsed(connection, response, text)
  return { status: response.status, requestId, text, json }
}

async function send(url: string, address: string, init: RequestInit): Promise<RawAnswer> {
  const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(init.signal ? [init.signal] : [])])
  try {
    // Redirects are not followed, because the credential would be sent along.
    const response = await fetch(address, { ...init, redirect: 'manual', signal })
    return { response, text: await response.text() }
  } catch (error) {
    throw new CommandFailure(
      `Cannot reach ${url}: ${reasonOf(error as Error)}.\nStart the server: jeton serve   Use another one: --url or JETON_URL`,
      EXIT.unreachable,
    )
  }
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name cannot be resolved at the moment',
  ECONNRESET: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
}

function reasonOf(error: Error): string {
  if (error.name === 'TimeoutError') return `no response within ${TIMEOUT_MS / 1000} s`
  const cause = error.cause as (Error & { code?: string }) | undefined
  return REASONS[cause?.code ?? ''] ?? cause?.message ?? error.message
}

function parsed({ url }: Connection, response: Response, text: string): unknown {
  try {
    if (response.status < 300) return JSON.parse(text)
  } catch {
    // The response is not JSON, so it does not come from Jeton.
  }
  const type = response.headers.get('content-type') ?? 'no content type'
  throw new CommandFailure(
    `The response of ${url} is not from Jeton: ${response.status}, ${type}. Check --url or JETON_URL.`,
    EXIT.unreachable,
  )
}

interface ErrorBody {
  readonly key?: string
  readonly message?: string
  readonly details?: string
  readonly request_id?: string
  readonly resource_type?: string
}

/** The error of the server in two lines: message and details, then notes. */
export function refused(
  response: Response,
  text: string,
  asOperator: Connection | undefined,
): CommandFailure {
  const body = errorBody(text)
  const details = body.details?.replaceAll('<request_id>', body.request_id ?? '')
  const said = [body.message ?? `The server returned ${response.status}.`, details].filter(Boolean).join(' ')
  const notes = [
    body.request_id && `Request ${body.request_id}.`,
    retryNote(response),
    asOperator && ownNote(asOperator, body),
  ]
  const second = notes.filter(Boolean).join(' ')
  return new CommandFailure(second ? `${said}\n${second}` : said, codeOf(response.status), response.status)
}

function errorBody(text: string): ErrorBody {
  try {
    return JSON.parse(text) as ErrorBody
  } catch {
    return {}
  }
}

function retryNote(response: Response): string | undefined {
  const seconds = response.headers.get('retry-after')
  return seconds ? `Try again in ${seconds} s.` : undefined
}

/** Says where the credential or the project came from, which only the command line knows. */
function ownNote({ credential, defaultProject }: Connection, body: ErrorBody): string | undefined {
  if (body.key === 'unauthorized') return `The credential came from ${credential().from}.`
  if (body.resource_type === 'project' && defaultProject && body.message?.includes(defaultProject))
    return 'It is the default of your profile. List projects: jeton project list   Choose another: jeton project use'
  return undefined
}

const codeOf = (status: number): number => {
  if (status === 401) return EXIT.credentials
  if (status === 404) return EXIT.notFound
  return status === 429 || status === 503 ? EXIT.tryAgain : EXIT.refused
}

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

/** The request as a curl command. Credentials are shell variables, since such lines end up in tickets and chats. */
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

/** One run of a command against a server. */
export interface Session {
  readonly io: Io
  readonly connection: Connection
  readonly catalogue: Catalogue
  /** The value of `--project`. */
  readonly project: string | undefined
  /** Flags for hints that select the same server and project: ` --project Club`. */
  readonly sameFlags: string
  call(request: ApiRequest): Promise<Answer>
}

export function openSession(
  io: Io,
  options: ConnectionOptions & { readonly project?: string },
  catalogue: Catalogue = readCatalogue(),
): Session {
  const connection = connect(io, options)
  const call = (request: ApiRequest) => callApi(connection, request)
  return { io, connection, catalogue, project: options.project, sameFlags: sameFlags(options), call }
}

const sameFlags = ({ url, project }: { url?: string; project?: string }): string =>
  [url && ` --url ${shellWord(url)}`, project && ` --project ${shellWord(project)}`].filter(Boolean).join('')
