import createClient, { type Middleware } from 'openapi-fetch'
import { isOperatorActive } from './activity.ts'
import { noteContact, noteFailure } from './connection.ts'
import type { components, paths } from './schema.ts'

export type Schemas = components['schemas']

/** Marks every request as one of a page of this service. Requests that nobody caused do not prolong the session. */
const marked: Middleware = {
  onRequest({ request }) {
    const isPolling = request.method === 'GET' && !isOperatorActive()
    request.headers.set('X-Jeton-Console', isPolling ? 'poll' : '1')
    return request
  },
  onResponse({ response }) {
    // A proxy answers these if it cannot reach the service.
    if (response.status === 502 || response.status === 504) noteFailure()
    else noteContact()
    return response
  },
  onError({ error }) {
    // A page that is left cancels its requests.
    if (!(error instanceof DOMException && error.name === 'AbortError')) noteFailure()
    return error instanceof Error ? error : new Error(String(error))
  },
}

/** The management API. Paths are those of `openapi.json` without `/management/v1`. */
export const api = createClient<paths>({ baseUrl: `${location.origin}/management/v1`, cache: 'no-store' })
api.use(marked)

type Answer<T> = Promise<{ data?: T; error?: unknown; response: Response }>

/** A refusal of the API, with the fields of its error. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  readonly status: number
  readonly key: string
  readonly details: string | undefined
  readonly requestId: string | undefined
  readonly docUrl: string | undefined

  constructor(status: number, error: unknown) {
    const body = (typeof error === 'object' && error !== null ? error : {}) as Partial<Schemas['Error']>
    super(body.message ?? `The server answered ${status}.`)
    this.status = status
    this.key = body.key ?? 'unknown'
    this.details = body.details
    this.requestId = body.request_id
    this.docUrl = body.doc_url
  }
}

/** The data of a successful answer. Everything else becomes an ApiProblem. */
export async function read<T>(answer: Answer<T>): Promise<T> {
  const { data, error, response } = await answer
  if (!response.ok) throw new ApiProblem(response.status, error)
  return data as T
}

export const isSignedOut = (error: unknown): boolean => error instanceof ApiProblem && error.status === 401
