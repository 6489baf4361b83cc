import { Type } from 'typebox'
import { Problem } from '../../contract/problem.ts'
import {
  ALL_METHODS,
  type ApiRequest,
  type ApiResponse,
  type App,
  fastifyHandler,
} from '../../platform/http/index.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { type AuthenticationDeps, readCredential } from '../tokens/index.ts'
import { type Allowed, authorizeCall, type Call, tryAuthorizeCall } from './authorize-call.ts'
import { GATEWAY, parseGatewayRequest } from './gateway-request.ts'

interface Deps extends AuthenticationDeps {
  readonly metrics: Metrics
}

/** Proxies turn every status except 401, 403 and 503 into 500, so other credential errors become 401 here. */
function forProxies(error: unknown): unknown {
  if (!(error instanceof Problem) || error.status === 401 || error.status === 403 || error.status === 503)
    return error
  return new Problem('unauthorized', {
    message: error.message,
    details: error.details,
    refusal: error.refusal ?? { step: error.key },
  })
}

const PLAIN_TEXT = ['content-type', 'text/plain; charset=utf-8']

/**
 * Authorizes calls to other APIs for nginx `auth_request`, Caddy and Traefik `forward_auth` and Envoy `ext_authz`.
 * Answers any method from the cache before a body is read.
 */
export function gatewayRoutes(app: App, deps: Deps): void {
  const answers = deps.metrics.counter('jeton_gateway_decisions_total')
  const [passed, refused] = [answers({ decision: 'allowed' }), answers({ decision: 'refused' })]

  function pass({ caller }: Call, { key, scope, expiresInMs }: Allowed): ApiResponse {
    passed.add()
    const { project_id, client_id, id } = key.row
    const headers = [
      ...PLAIN_TEXT,
      'x-jeton-project-id',
      project_id,
      'x-jeton-client-id',
      client_id,
      'x-jeton-key-id',
      id,
      'x-jeton-scope',
      scope,
      'x-jeton-address',
      caller.ip ?? 'unknown',
    ]
    // Rounded down, so that an API that remembers the answer for this long never accepts an expired token.
    if (expiresInMs !== undefined) headers.push('x-jeton-expires-in', String(Math.floor(expiresInMs / 1000)))
    return { headers, text: '' }
  }

  function refuse(error: unknown): never {
    refused.add()
    throw forProxies(error)
  }

  function authorize(request: ApiRequest): ApiResponse | Promise<ApiResponse> {
    try {
      const credential = readCredential(request)
      const { requiredScopes, description } = parseGatewayRequest(request.raw)
      const call = { credential, caller: request.caller, requiredScopes, description }
      const cached = tryAuthorizeCall(deps, call)
      if (cached) return pass(call, cached)
      return authorizeCall(deps, call).then((allowed) => pass(call, allowed), refuse)
    } catch (error) {
      return refuse(error)
    }
  }

  for (const url of [GATEWAY, `${GATEWAY}/*`])
    app.route({
      method: ALL_METHODS,
      url,
      // nginx drops the body of a refusal but can forward its headers to the client.
      config: { access: 'handler', bodyType: 'nothing', fast: authorize, refusalInHeader: true },
      schema: {
        tags: ['gateway'],
        hide: url !== GATEWAY,
        operationId: 'gateway.authorize',
        security: [{ bearer: [] }, { appId: [], appToken: [] }],
        // Documentation only: the response is sent before validation.
        headers: Type.Object({
          'x-original-uri': Type.Optional(
            Type.String({ description: 'Path of the call.', examples: ['/v1/rewards'] }),
          ),
        }),
        querystring: Type.Object({
          scope: Type.Optional(Type.String({ description: 'Required scopes, if no path is sent.' })),
        }),
        summary: 'Authorize a call for a proxy: 200, 401, 403 or 503',
        description:
          'The path is taken from `X-Original-URI`, `X-Forwarded-Uri` or the rest of the request path. If several are present, they must be equal. `?scope=` is used only if there is no path. A 200 response identifies the client in `X-Jeton-Project-Id`, `X-Jeton-Client-Id`, `X-Jeton-Key-Id` and `X-Jeton-Scope`. `X-Jeton-Address` is the address that was checked, and `X-Jeton-Expires-In` the remaining seconds of a token, rounded down.',
      },
      handler: fastifyHandler(authorize),
    })
}
