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
import { type AuthenticationDeps, authenticateKey, keyNotAccepted } from './authenticate-key.ts'
import type { CachedKey } from './cached-key.ts'
import { type Credential, readCredential } from './client-credentials.ts'
import { introspectToken, tryIntrospectToken } from './introspect-token.ts'
import { type IssueDeps, issueToken } from './issue-token.ts'
import { checkGrantType, readTokenParameter } from './oauth-form.ts'
import { revokeToken } from './revoke-token.ts'
import { parseAccessToken, secondsLeft } from './token.ts'
import type { Verdict } from './verify-token.ts'

interface Deps extends IssueDeps, AuthenticationDeps {
  readonly db: Database
  readonly publicUrl: () => string
}

const TokenFields = {
  access_token: Type.String(),
  client_id: Type.String(),
  expires_at: Type.Integer({ description: 'Unix time in seconds.' }),
  expires_in: Type.Integer({ description: 'Remaining seconds; 900 when issued.' }),
  scope: Type.String(),
  token_type: Type.Literal('Bearer'),
}

const CredentialFields = {
  client_id: Type.Optional(Type.String({ description: 'App id, for clients that send it in the form.' })),
  client_secret: Type.Optional(
    Type.String({ description: 'App token, for clients that send it in the form.' }),
  ),
}

const TokenForm = {
  access_token: Type.Optional(Type.String({ description: 'The token.' })),
  token: Type.Optional(
    Type.String({ description: 'Name of `access_token` in the RFCs. Both must be equal if both are sent.' }),
  ),
  ...CredentialFields,
}

const eitherToken = {
  anyOf: [{ required: ['access_token'] }, { required: ['token'] }],
  examples: [{ access_token: '$TOKEN' }],
}

const SCOPE_PATTERN = `^((${SCOPE_VALUES.join('|')})( (?!$)|$)){1,${SCOPE_VALUES.length}}$`

/** Same bytes for unknown, malformed, expired and revoked tokens, and for those of other projects or inactive keys. */
const INACTIVE = '{"active":false}'

/** Concatenated for speed: no value contains characters that JSON would escape. */
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

const INACTIVE_RESPONSE = json(INACTIVE)

/** How metrics count a token request that the store or a bug kept from being answered. */
const UNAVAILABLE = { key: 'temporarily_unavailable', refusal: undefined }

const formOf = ({ body }: ApiRequest): Form => (body instanceof Map ? body : new Map())

export function oauthRoutes(app: App, deps: Deps): void {
  const tags = ['OAuth']
  // The handlers check the form themselves, in the documented order of errors. The schema is documentation.
  const route = {
    config: { access: 'handler', oauth: true, bodyType: 'form' },
    validatorCompiler: () => () => true,
  } as const
  const consumes = ['application/x-www-form-urlencoded']
  const security: Record<string, string[]>[] = [{ appId: [], appToken: [] }, { basic: [] }]

  async function authenticateClient(request: ApiRequest, credential: Credential): Promise<CachedKey> {
    if (credential.kind !== 'key') throw keyNotAccepted('credential_missing')
    const key = await authenticateKey(deps, credential, request.caller)
    deps.lastUsed.record(key, request.caller.ip)
    request.logNote = key.row.name
    return key
  }

  async function issue(request: ApiRequest): Promise<ApiResponse> {
    let key: CachedKey | undefined
    try {
      const form = formOf(request)
      const credential = readCredential(request, form)
      key = await authenticateClient(request, credential)
      checkGrantType(form)
      const authenticateAgain = () => authenticateClient(request, credential)
      const issued = await issueToken(deps, { key, scope: form.get('scope'), authenticateAgain })
      deps.usage.tokenIssued(issued.key.row.project_id, issued.key.row.id)
      request.logNote = `${key.row.name}  ${issued.scope}`
      const parts = { scope: issued.scope, expiresAt: issued.expiresAt, expiresIn: TOKEN_LIFETIME_SECONDS }
      return json(`${tokenJson(issued.accessToken, issued.key, parts)}}`)
    } catch (error) {
      const { key: reason, refusal } = error instanceof Problem ? error : UNAVAILABLE
      deps.usage.tokenRefused(reason, key?.row.project_id ?? refusal?.projectId)
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
              description: 'Scopes, separated by single spaces.',
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

  function introspectionResponse(form: Form, verdict: Verdict): ApiResponse {
    if (!verdict.active) return INACTIVE_RESPONSE
    const { scope, expiresAt } = verdict.token
    const parts = { scope, expiresAt, expiresIn: secondsLeft(expiresAt, verdict.now) }
    return json(`${tokenJson(readTokenParameter(form), verdict.key, parts)},"active":true}`)
  }

  /** Not async: a cached verdict is returned without a promise. */
  function introspect(request: ApiRequest): ApiResponse | Promise<ApiResponse> {
    const form = formOf(request)
    const cached = tryIntrospectToken(deps, request, form)
    if (cached) return introspectionResponse(form, cached)
    return introspectToken(deps, request, form).then((verdict) => introspectionResponse(form, verdict))
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
          summary: 'Check whether a token is active',
          description:
            'Returns exactly `{"active":false}` for unknown, malformed, expired and revoked tokens, and for tokens of other projects or of blocked or deleted keys.',
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
                    "Address of your client. The token is inactive if the address is outside the key's IP allowlist.",
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
    const key = await authenticateClient(request, readCredential(request, form))
    const accessToken = readTokenParameter(form)
    const locator = parseAccessToken(accessToken)
    if (locator?.projectId !== key.row.project_id) return false
    const revoked = await revokeToken(deps.db, locator, { byKeyId: key.row.id })
    if (revoked) deps.tokenCache.markRevoked(locator.digest)
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
          404: Type.Null({ description: 'No active token to revoke.' }),
        },
      },
    },
    // Undefined instead of null, which would be sent as the JSON text `null`.
    async (request, reply) => reply.code((await revoke(request)) ? 204 : 404).send(undefined as never),
  )

  app.post(
    '/v1/oauth/revoke',
    {
      ...route,
      schema: {
        ...revocation,
        operationId: 'oauth.revoke-rfc7009',
        summary: 'Revoke a token of this key, by RFC 7009',
        response: { 200: Type.Object({}, { description: 'The token is not active now.' }) },
      },
    },
    async (request, reply) => {
      await revoke(request)
      // RFC 7009 §2.2 ignores the body, but some clients fail without JSON.
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

/** RFC 8414 metadata. The issuer is never taken from a request. */
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
