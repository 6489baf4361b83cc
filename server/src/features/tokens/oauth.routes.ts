import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { TOKEN_LIFETIME_SECONDS } from '../../contract/limits.ts'
import { Problem } from '../../contract/problem.ts'
import { SCOPE_VALUES } from '../../contract/scopes.ts'
import type { Database } from '../../platform/database/index.ts'
import {
  type ApiRequest,
  type ApiResponse,
  type App,
  type Form,
  fastifyHandler,
} from '../../platform/http/index.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { type AuthenticationDeps, authenticateKey, notAccepted } from './authenticate-key.ts'
import type { CachedKey } from './cached-key.ts'
import { type Presented, presentedCredential } from './client-credentials.ts'
import { introspectToken, tryIntrospectToken } from './introspect-token.ts'
import { type IssueDeps, issueToken } from './issue-token.ts'
import { checkGrantType, tokenIn } from './oauth-form.ts'
import { revokeToken } from './revoke-token.ts'
import { nameOfToken, secondsLeft } from './token.ts'
import type { Verdict } from './verify-token.ts'

interface Deps extends IssueDeps, AuthenticationDeps {
  readonly db: Database
  readonly metrics: Metrics
  readonly publicUrl: () => string
}

const TokenFields = {
  access_token: Type.String(),
  client_id: Type.String(),
  expires_at: Type.Integer({ description: 'Unix time in seconds.' }),
  expires_in: Type.Integer({ description: 'Seconds left; 900 at generation.' }),
  scope: Type.String(),
  token_type: Type.Literal('Bearer'),
}

const CredentialFields = {
  client_id: Type.Optional(Type.String({ description: 'The app id, for clients that send it in the form.' })),
  client_secret: Type.Optional(Type.String({ description: 'The app token, likewise.' })),
}

const TokenForm = {
  access_token: Type.Optional(Type.String({ description: 'The token.' })),
  token: Type.Optional(
    Type.String({ description: 'The same, under the name of the RFC; equal if both are sent.' }),
  ),
  ...CredentialFields,
}

const eitherToken = {
  anyOf: [{ required: ['access_token'] }, { required: ['token'] }],
  examples: [{ access_token: '$TOKEN' }],
}

const SCOPE_PATTERN = `^((${SCOPE_VALUES.join('|')})( (?!$)|$)){1,${SCOPE_VALUES.length}}$`

/** Byte for byte the same for unknown, malformed, expired, revoked, dead and foreign tokens. */
const INACTIVE = '{"active":false}'

/** Written by hand: every value is of characters that need no escaping in JSON. */
const tokenJson = (
  accessToken: string,
  key: CachedKey,
  parts: { scope: string; expiresAt: number; expiresIn: number },
): string =>
  `{"access_token":"${accessToken}","client_id":"${key.row.client_id}","expires_at":${parts.expiresAt / 1000},` +
  `"expires_in":${parts.expiresIn},"scope":"${parts.scope}","token_type":"Bearer"`

const JSON_TYPE = 'application/json; charset=utf-8'
const JSON_HEADERS = ['content-type', JSON_TYPE]

const json = (text: string): ApiResponse => ({ headers: JSON_HEADERS, text })

const INACTIVE_ANSWER = json(INACTIVE)

const formOf = ({ body }: ApiRequest): Form => (body instanceof Map ? body : new Map())

export function oauthRoutes(app: App, deps: Deps): void {
  const tags = ['OAuth']
  // The form is checked by hand, in the order of the contract; the schema documents it.
  const route = {
    config: { access: 'handler', oauth: true, bodyType: 'form' },
    validatorCompiler: () => () => true,
  } as const
  const consumes = ['application/x-www-form-urlencoded']
  const security: Record<string, string[]>[] = [{ appId: [], appToken: [] }, { basic: [] }]
  const count = addOAuthMetrics(deps.metrics)

  async function provedKey(request: ApiRequest, presented: Presented): Promise<CachedKey> {
    if (presented.kind !== 'pair') throw notAccepted('credential_missing')
    const key = await authenticateKey(deps, presented, request.caller)
    deps.lastUsed.record(key)
    request.logNote = key.row.name
    return key
  }

  async function issue(request: ApiRequest): Promise<ApiResponse> {
    try {
      const form = formOf(request)
      const presented = presentedCredential(request, form)
      const key = await provedKey(request, presented)
      checkGrantType(form)
      const authenticateAgain = () => provedKey(request, presented)
      const issued = await issueToken(deps, { key, scope: form.get('scope'), authenticateAgain })
      count.issued()
      request.logNote = `${key.row.name}  ${issued.scope}`
      const parts = { scope: issued.scope, expiresAt: issued.expiresAt, expiresIn: TOKEN_LIFETIME_SECONDS }
      return json(`${tokenJson(issued.accessToken, issued.key, parts)}}`)
    } catch (error) {
      count.refused(error instanceof Problem ? error.key : 'temporarily_unavailable')
      throw error
    }
  }

  app.post(
    '/v1/oauth/token',
    {
      ...route,
      config: { ...route.config, fast: issue },
      schema: {
        tags,
        consumes,
        security,
        operationId: 'oauth.token',
        summary: 'Exchange an API key for an access token',
        body: Type.Object(
          {
            grant_type: Type.String({ enum: ['client_credentials'] }),
            scope: Type.String({
              pattern: SCOPE_PATTERN,
              description: 'Scope values, separated by single spaces.',
            }),
            ...CredentialFields,
          },
          { examples: [{ grant_type: 'client_credentials', scope: 'loyalties rewards' }] },
        ),
        response: { 200: Type.Object(TokenFields) },
      },
    },
    fastifyHandler(issue) as never,
  )

  function answerOf(form: Form, verdict: Verdict): ApiResponse {
    count.verdict(verdict.active)
    if (!verdict.active) return INACTIVE_ANSWER
    const { scope, expiresAt } = verdict.token
    const parts = { scope, expiresAt, expiresIn: secondsLeft(expiresAt, verdict.now) }
    return json(`${tokenJson(tokenIn(form), verdict.key, parts)},"active":true}`)
  }

  /** Not async: a verdict from the cache is answered without a promise. */
  function introspect(request: ApiRequest): ApiResponse | Promise<ApiResponse> {
    const form = formOf(request)
    const cached = tryIntrospectToken(deps, request, form)
    if (cached) return answerOf(form, cached)
    return introspectToken(deps, request, form).then((verdict) => answerOf(form, verdict))
  }

  for (const [url, operationId] of [
    ['/v1/oauth/introspect', 'oauth.introspect'],
    ['/oauth/introspect', 'oauth.introspect-at-root'],
  ] as const)
    app.post(
      url,
      {
        ...route,
        config: { ...route.config, fast: introspect },
        schema: {
          tags,
          consumes,
          security: [...security, { bearer: [] }],
          operationId,
          summary: 'Ask whether a token is active',
          description:
            'Unknown, malformed, expired, revoked, dead and foreign tokens answer exactly `{"active":false}`.',
          body: Type.Object(
            {
              ...TokenForm,
              ip_address: Type.Optional(
                Type.String({
                  anyOf: [
                    { type: 'string', format: 'ipv4' },
                    { type: 'string', format: 'ipv6' },
                  ],
                  description:
                    "Address of your own caller: outside the key's whitelist the token is inactive for it.",
                }),
              ),
            },
            eitherToken,
          ),
          response: {
            200: Type.Object({
              ...Type.Partial(Type.Object(TokenFields)).properties,
              active: Type.Boolean(),
            }),
          },
        },
      },
      fastifyHandler(introspect) as never,
    )

  async function revoke(request: FastifyRequest): Promise<boolean> {
    const form = formOf(request)
    const key = await provedKey(request, presentedCredential(request, form))
    const accessToken = tokenIn(form)
    const name = nameOfToken(accessToken)
    if (name?.projectId !== key.row.project_id) return false
    const revoked = await revokeToken(deps.db, name, { byKeyId: key.row.id })
    if (revoked) deps.tokenCache.markRevoked(name.digest)
    return revoked
  }
  const revocation = { tags, consumes, security, body: Type.Object(TokenForm, eitherToken) }

  app.post(
    '/v1/oauth/token/revoke',
    {
      ...route,
      schema: {
        ...revocation,
        operationId: 'oauth.revoke',
        summary: 'Revoke a token of this key',
        response: {
          204: Type.Null({ description: 'Revoked.' }),
          404: Type.Null({ description: 'There was nothing to revoke.' }),
        },
      },
    },
    // Not null, which would be sent as the four letters of JSON.
    async (request, reply) => reply.code((await revoke(request)) ? 204 : 404).send(undefined as never),
  )

  app.post(
    '/v1/oauth/revoke',
    {
      ...route,
      schema: {
        ...revocation,
        operationId: 'oauth.revoke-rfc7009',
        summary: 'Revoke a token of this key, as RFC 7009 has it',
        response: { 200: Type.Object({}, { description: 'It is not active, whatever it was before.' }) },
      },
    },
    async (request, reply) => {
      await revoke(request)
      // RFC 7009 §2.2: the body is ignored. Some clients insist on JSON all the same, and fail on none.
      return reply.header('content-type', JSON_TYPE).send('{}' as never)
    },
  )

  app.get(
    '/.well-known/oauth-authorization-server',
    {
      config: { access: 'public', oauth: true },
      schema: { tags, operationId: 'oauth.metadata', summary: 'RFC 8414 metadata' },
    },
    async () => metadata(deps.publicUrl()),
  )
}

const AUTH_METHODS = ['client_secret_basic', 'client_secret_post']

/** RFC 8414, true to what the server does. The issuer is never taken from a request. */
const metadata = (issuer: string) => ({
  issuer,
  token_endpoint: `${issuer}/v1/oauth/token`,
  introspection_endpoint: `${issuer}/v1/oauth/introspect`,
  revocation_endpoint: `${issuer}/v1/oauth/revoke`,
  response_types_supported: [],
  grant_types_supported: ['client_credentials'],
  scopes_supported: SCOPE_VALUES,
  token_endpoint_auth_methods_supported: AUTH_METHODS,
  introspection_endpoint_auth_methods_supported: AUTH_METHODS,
  revocation_endpoint_auth_methods_supported: AUTH_METHODS,
  service_documentation: `${issuer}/docs`,
})

function addOAuthMetrics(metrics: Metrics) {
  const issued = metrics.counter('jeton_tokens_issued_total', 'Tokens issued.')()
  const refused = metrics.counter('jeton_tokens_refused_total', 'Token requests refused, by error key.')
  const verdicts = metrics.counter('jeton_introspections_total', 'Introspections, by verdict.')
  const [active, inactive] = [verdicts({ verdict: 'active' }), verdicts({ verdict: 'inactive' })]
  return {
    issued: () => issued.add(),
    refused: (reason: string) => refused({ reason }).add(),
    verdict: (isActive: boolean) => (isActive ? active : inactive).add(),
  }
}
