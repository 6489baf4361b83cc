import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyError } from 'fastify'
import type { ErrorKey } from '../../contract/error-keys.ts'
import { withoutCredentials } from '../../contract/ids.ts'
import { Problem } from '../../contract/problem.ts'
import { StoreNotWritable, StoreUnavailable } from '../store-unavailable.ts'
import type { CallerAddress } from './caller-address.ts'
import { explainValidation } from './explain-validation.ts'

export const FORM = 'application/x-www-form-urlencoded'

export const wrongMediaType = (oauth: boolean): Problem =>
  new Problem('unsupported_media_type', {
    message: oauth ? 'The OAuth endpoints take a form.' : 'This endpoint takes JSON.',
    details: oauth
      ? `Content-Type: ${FORM}, body grant_type=client_credentials&scope=…`
      : 'Content-Type: application/json',
  })

/** A request as it is told what was wrong with it. */
export interface Told {
  readonly id: string
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly caller: CallerAddress
  /** Why it is answered with 503, for the log. */
  reason: string | undefined
  /** Where Node read it: whether all of it has come. */
  readonly raw: { readonly complete?: boolean }
}

/** What its route has to do with it. */
export interface Telling {
  /** Answers carry RFC 6749 `error`. */
  readonly oauth?: boolean
  /** The body of a refusal is in a header, too. */
  readonly refusalInHeader?: boolean
}

/** Fastify's own errors, told in our words. */
function fromFramework(error: FastifyError, { raw }: Told, { oauth = false }: Telling): Problem | undefined {
  switch (error.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_TYPE':
      return wrongMediaType(oauth)
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem('payload_too_large', {
        message: `The body is larger than ${oauth ? '16 KB' : '1 MB'}.`,
        details: 'Send less.',
      })
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Problem('invalid_payload', {
        message: 'Content-Length does not fit the body.',
        details: 'Send as many bytes as it says.',
      })
    case 'ECONNRESET':
      // A caller that hangs up in the middle of its body is no bug of ours, and must not be able to fill the log with them.
      if (raw.complete) return undefined
      return new Problem('invalid_payload', {
        message: 'The request broke off.',
        details: 'Send all of it.',
      })
    case 'FST_ERR_BAD_URL':
      return new Problem('invalid_payload', {
        message: 'The path has bad percent-encoding.',
        details: 'Encode it as UTF-8.',
      })
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Problem('not_found', {
        message: 'There is nothing here: a part of the path is longer than any id.',
        details: 'The API reference at /docs lists every path.',
      })
    default:
      return undefined
  }
}

export const unavailable = (
  message = 'Jeton cannot confirm the state of keys and does not guess.',
): Problem =>
  new Problem('temporarily_unavailable', {
    message,
    details: 'Try again in 5 s.',
    headers: { 'retry-after': '5' },
  })

/** Whatever was thrown, as the Problem to answer with; undefined is a bug of ours. */
export function problemOf(error: unknown, request: Told, telling: Telling): Problem | undefined {
  if (error instanceof Problem) return error
  if (error instanceof StoreNotWritable) return unavailable(`Jeton cannot store anything: ${error.why}.`)
  if (error instanceof StoreUnavailable) return unavailable()
  const failure = error as FastifyError
  if (failure.validation?.[0])
    return explainValidation(failure.validation as never, failure.validationContext ?? 'body')
  return fromFramework(failure, request, telling)
}

export const bug = (): Problem =>
  new Problem('internal_error', {
    message: 'Something went wrong inside Jeton.',
    details: 'The log has the cause under this request id. Please report it.',
  })

interface ErrorBody {
  code: number
  key: ErrorKey
  message: string
  details?: string | undefined
  resource_id?: string
  resource_type?: string
  request_id: string
  doc_url: string
  error?: string
  error_description?: string
}

export function errorBody(
  problem: Problem,
  about: { requestId: string; oauth: boolean; publicUrl: string },
): ErrorBody {
  // Messages quote what was sent, which may be a credential in the wrong place.
  const message = withoutCredentials(problem.message)
  const { details, resource } = problem
  return {
    code: problem.status,
    key: problem.key,
    message,
    details: details && withoutCredentials(details),
    ...(resource && { resource_id: withoutCredentials(resource.id), resource_type: resource.type }),
    request_id: about.requestId,
    doc_url: `${about.publicUrl}/docs/errors/${problem.key}`,
    // RFC 6749 §5.2 allows neither quotes nor backslashes nor anything beyond ASCII in error_description.
    ...(about.oauth && { error: problem.oauth, error_description: asciiOnly(message) }),
  }
}

const asciiOnly = (text: string): string => text.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, '?')

/**
 * RFC 6750 §3. On OAuth endpoints only when the request used `Authorization`: strict clients would otherwise hide the
 * JSON error behind the challenge. Everywhere else always, with `error=` only if a token was sent.
 */
function challenge(problem: Problem, { headers }: Told, { oauth }: Telling): string | undefined {
  const sent = headers.authorization ?? ''
  const bearer = /^bearer /i.test(sent)
  if (oauth) {
    if (sent === '') return undefined
    return bearer ? `Bearer error="${problem.oauth}"` : 'Basic realm="Jeton", charset="UTF-8"'
  }
  return bearer ? 'Bearer error="invalid_token"' : 'Bearer'
}

/** Of the headers of an answer those that come with the problem. */
export function problemAnswer(problem: Problem, request: Told, telling: Telling, publicUrl: string) {
  const { oauth = false, refusalInHeader = false } = telling
  const text = JSON.stringify(errorBody(problem, { requestId: request.id, oauth, publicUrl }))
  const headers: Record<string, string> = {}
  const value = problem.status === 401 ? challenge(problem, request, telling) : undefined
  if (value) headers['www-authenticate'] = value
  Object.assign(headers, problem.headers, { 'content-type': 'application/json; charset=utf-8' })
  if (refusalInHeader) headers['x-jeton-error'] = text.replace(/[^\x20-\x7e]/g, escaped)
  return { status: problem.status, headers, text }
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
