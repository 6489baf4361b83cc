import type { Connection } from './connection.ts'
import { CommandFailure, EXIT } from './exit.ts'

export interface ApiRequest {
  readonly method: string
  readonly path: string
  readonly query?: Readonly<Record<string, string>> | undefined
  readonly body?: unknown
  /** OAuth endpoints take a form. */
  readonly form?: Readonly<Record<string, string>> | undefined
  /** Of an API client, instead of the operator's. */
  readonly credential?: Readonly<Record<string, string>> | undefined
  /** Beside the credential; nothing secret. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Gives up when it fires. */
  readonly signal?: AbortSignal | undefined
}

export interface Answer {
  readonly status: number
  /** `X-Request-Id`: what the call caused carries it. */
  readonly requestId: string
  /** As it came. */
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

/** An answer before anyone has looked at it. */
export interface RawAnswer {
  readonly response: Response
  readonly text: string
}

/** The request as it is, whatever is answered. */
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
    // Redirects are not followed: the credential would go along to wherever they lead.
    const response = await fetch(address, { ...init, redirect: 'manual', signal })
    return { response, text: await response.text() }
  } catch (error) {
    throw new CommandFailure(
      `Cannot reach ${url}: ${reasonOf(error as Error)}.\nIs it running there? Start it: npm start   Name another: --url or JETON_URL`,
      EXIT.unreachable,
    )
  }
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name cannot be looked up now',
  ECONNRESET: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
}

function reasonOf(error: Error): string {
  if (error.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1000} s`
  const cause = error.cause as (Error & { code?: string }) | undefined
  return REASONS[cause?.code ?? ''] ?? cause?.message ?? error.message
}

function parsed({ url }: Connection, response: Response, text: string): unknown {
  try {
    if (response.status < 300) return JSON.parse(text)
  } catch {
    // Told below: whatever answers is not Jeton.
  }
  const type = response.headers.get('content-type') ?? 'no content type'
  throw new CommandFailure(
    `${url} does not answer like Jeton: ${response.status}, ${type}. Check --url or JETON_URL.`,
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

/** What the server said, in at most two lines and one for what to do about credentials. */
export function refused(
  response: Response,
  text: string,
  asOperator: Connection | undefined,
): CommandFailure {
  const body = errorBody(text)
  const details = body.details?.replaceAll('<request_id>', body.request_id ?? '')
  const said = [body.message ?? `Answered ${response.status}.`, details].filter(Boolean).join(' ')
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

/** What only this side knows: where the credential or the project came from. */
function ownNote({ credential, defaultProject }: Connection, body: ErrorBody): string | undefined {
  if (body.key === 'unauthorized') return `The credential came from ${credential().from}.`
  if (body.resource_type === 'project' && defaultProject && body.message?.includes(defaultProject))
    return 'It is the default of your profile. Choose another with jeton project use; to see them: jeton project list'
  return undefined
}

const codeOf = (status: number): number => {
  if (status === 401) return EXIT.credentials
  if (status === 404) return EXIT.notFound
  return status === 429 || status === 503 ? EXIT.tryAgain : EXIT.refused
}
