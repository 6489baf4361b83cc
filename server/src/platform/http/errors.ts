import type { FastifyContextConfig, FastifyError, FastifyRequest } from 'fastify'
import { withoutCredentials } from '../../contract/ids.ts'
import { Problem } from '../../contract/problem.ts'
import { StoreNotWritable, StoreUnavailable } from '../store-unavailable.ts'
import { explainValidation } from './validation-messages.ts'

export const FORM = 'application/x-www-form-urlencoded'

/** The part of a request that its error response depends on. */
export type ErrorContext = Pick<FastifyRequest, 'id' | 'method' | 'url' | 'headers' | 'caller' | 'reason'> & {
  readonly raw: { readonly complete: boolean }
}

/** The part of a route's configuration that its error responses depend on. */
export type ErrorFormat = Pick<FastifyContextConfig, 'oauth' | 'refusalInHeader'>

export interface ErrorResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export const invalidPayload = (message: string, details: string): Problem =>
  new Problem('invalid_payload', { message, details })

export const sentTwice = (message: string, details: string): Problem =>
  new Problem('duplicate_parameter', { message, details })

export const pathNotFound = (message: string): Problem =>
  new Problem('not_found', { message, details: 'The API reference at /docs lists every path.' })

export const wrongMediaType = (oauth: boolean): Problem =>
  new Problem('unsupported_media_type', {
    message: oauth ? 'The OAuth endpoints require a form.' : 'This endpoint requires JSON.',
    details: oauth
      ? `Content-Type: ${FORM}, body grant_type=client_credentials&scope=…`
      : 'Content-Type: application/json',
  })

export function unavailable(message = 'Jeton cannot confirm the state of keys.'): Problem {
  const [details, headers] = ['Retry in 5 s.', { 'retry-after': '5' }]
  return new Problem('temporarily_unavailable', { message, details, headers })
}

export const bug = (): Problem =>
  new Problem('internal_error', {
    message: 'Internal error.',
    details: 'The log has the cause under this request id. Please report it.',
  })

/** Translates Fastify's own errors. */
function fromFastify(code: string, { raw }: ErrorContext, oauth: boolean): Problem | undefined {
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_TYPE':
      return wrongMediaType(oauth)
    case 'FST_ERR_CTP_BODY_TOO_LARGE': {
      const message = `The body is larger than ${oauth ? '16 KB' : '1 MB'}.`
      return new Problem('payload_too_large', { message, details: 'Send less.' })
    }
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return invalidPayload('Content-Length does not match the body.', 'Send exactly that many bytes.')
    case 'ECONNRESET':
      // A client that disconnects within its body is not a bug, and must not be able to fill the log.
      return raw.complete
        ? undefined
        : invalidPayload('The request is incomplete.', 'Send the whole request.')
    case 'FST_ERR_BAD_URL':
      return invalidPayload('The path has bad percent-encoding.', 'Encode it as UTF-8.')
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return pathNotFound('Not found: a part of the path is longer than any id.')
    default:
      return undefined
  }
}

/** Returns the Problem of anything that was thrown; undefined means a bug in Jeton. */
export function problemOf(error: unknown, request: ErrorContext, format: ErrorFormat): Problem | undefined {
  if (error instanceof Problem) return error
  if (error instanceof StoreNotWritable) return unavailable(`Jeton cannot write to its store: ${error.why}.`)
  if (error instanceof StoreUnavailable) return unavailable()
  const { validation, validationContext = 'body', code } = error as FastifyError
  if (validation?.[0]) return explainValidation(validation as never, validationContext)
  return fromFastify(code, request, format.oauth === true)
}

export function errorBody(
  { status, key, oauth: error, message: text, details, resource }: Problem,
  about: { requestId: string; oauth: boolean; publicUrl: string },
) {
  // Messages quote the request, which may contain a credential in the wrong field.
  const message = withoutCredentials(text)
  return {
    code: status,
    key,
    message,
    details: details && withoutCredentials(details),
    ...(resource && { resource_id: withoutCredentials(resource.id), resource_type: resource.type }),
    request_id: about.requestId,
    doc_url: `${about.publicUrl}/docs/errors/${key}`,
    // RFC 6749 §5.2 allows neither quotes nor backslashes nor anything beyond ASCII in error_description.
    ...(about.oauth && { error, error_description: asciiOnly(message) }),
  }
}

const asciiOnly = (text: string): string => text.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, '?')

/**
 * RFC 6750 §3. On OAuth endpoints only if the request used `Authorization`: strict clients would otherwise hide the JSON
 * error behind the challenge. On other endpoints always, with `error=` only if a token was sent.
 */
function challenge(problem: Problem, sent: string, oauth: boolean): string | undefined {
  const isBearer = /^bearer /i.test(sent)
  if (!oauth) return isBearer ? 'Bearer error="invalid_token"' : 'Bearer'
  if (sent === '') return undefined
  return isBearer ? `Bearer error="${problem.oauth}"` : 'Basic realm="Jeton", charset="UTF-8"'
}

export function errorResponse(
  problem: Problem,
  request: Pick<ErrorContext, 'id' | 'headers'>,
  { oauth = false, refusalInHeader, publicUrl }: ErrorFormat & { publicUrl: string },
): ErrorResponse {
  const text = JSON.stringify(errorBody(problem, { requestId: request.id, oauth, publicUrl }))
  const value =
    problem.status === 401 ? challenge(problem, request.headers.authorization ?? '', oauth) : undefined
  const headers = {
    ...(value && { 'www-authenticate': value }),
    ...problem.headers,
    'content-type': 'application/json; charset=utf-8',
    ...(refusalInHeader && { 'x-jeton-error': text.replace(/[^\x20-\x7e]/g, escaped) }),
  }
  return { status: problem.status, headers, text }
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
