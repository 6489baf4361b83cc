import swagger from '@fastify/swagger'
import { IsOptional } from 'typebox'
import { addManagementRoutes, addPublicRoutes, type RouteDeps } from '../src/app/routes.ts'
import { VERSION } from '../src/app/version.ts'
import type { Scope } from '../src/contract/scopes.ts'
import { systemClock } from '../src/platform/clock.ts'
import { type App, createHttp } from '../src/platform/http/index.ts'
import { createLog } from '../src/platform/log.ts'
import { createMetrics } from '../src/platform/metrics.ts'
import { curlSample } from './curl-samples.ts'

const ErrorBody = {
  type: 'object',
  description:
    'Every error has this body; `key` is stable. OAuth endpoints add `error` and `error_description`.',
  required: ['code', 'key', 'message', 'request_id', 'doc_url'],
  properties: {
    code: { type: 'integer', description: 'The HTTP status.' },
    key: { type: 'string' },
    message: { type: 'string', description: 'What is wrong.' },
    details: { type: 'string', description: 'What to do.' },
    resource_id: { type: 'string' },
    resource_type: { type: 'string' },
    request_id: { type: 'string' },
    doc_url: { type: 'string' },
    error: { type: 'string', description: 'RFC 6749, on OAuth endpoints.' },
    error_description: { type: 'string' },
  },
}

const header = (name: string, description: string) =>
  ({ type: 'apiKey', in: 'header', name, description }) as const

/** OpenAPI 3.1 lets any scheme list what it must hold; `x-scope` says the same of the key pair. */
const byScope = (scope: Scope) => ({
  security: [{ bearer: [scope] }, { appId: [], appToken: [] }],
  'x-scope': scope,
})

interface Operation {
  readonly operationId?: string
  readonly requestBody?: { required: boolean; content: Record<string, { example?: unknown }> }
  readonly responses: Record<string, object>
  'x-codeSamples'?: readonly object[]
}

const DESCRIPTION =
  'API clients trade a key pair for a 15-minute access token, narrowed by scopes; anyone entitled asks whether a token is active; customers earn points and redeem rewards, each with its event; operators manage projects, keys, tokens and webhooks.\n\nSamples take the address of the server, credentials and ids from shell variables: `export JETON_URL=… APP_ID=… APP_TOKEN=…`.'

/** The OpenAPI document, from the routes themselves: nothing of it runs, so what they need is not there. */
export async function describeApi(addMore: (app: App) => void = () => undefined): Promise<object> {
  const { app } = createHttp({
    clock: systemClock,
    log: createLog({ level: 'silent', readable: false }),
    metrics: createMetrics(),
    trustedProxies: [],
    managementAllow: [],
    requestLogLevel: 'debug',
    guards: { operator: () => undefined, scope: () => undefined },
    onRefusal: () => undefined,
    publicUrl: () => '',
  })
  const withOptionalBody = new Set<string | undefined>()
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Jeton',
        version: VERSION,
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      components: {
        schemas: { Error: ErrorBody as never },
        securitySchemes: {
          managementId: header('X-Management-Id', 'Id of an operator.'),
          managementToken: header('X-Management-Token', 'Its token.'),
          appId: header('X-App-Id', 'App id of an API key.'),
          appToken: header('X-App-Token', 'Its secret.'),
          basic: {
            type: 'http',
            scheme: 'basic',
            description: 'App id and app token, each percent-encoded.',
          },
          bearer: { type: 'http', scheme: 'bearer', description: 'An access token.' },
        },
      },
    },
    transform: ({ schema, url, route }) => {
      const { body, operationId } = (schema ?? {}) as { body?: unknown; operationId?: string }
      if (body && IsOptional(body)) withOptionalBody.add(operationId)
      return {
        url,
        schema: {
          ...(schema as object),
          ...(route.config?.access === 'operator' && {
            security: [{ managementId: [], managementToken: [] }],
          }),
          ...(route.config?.access === 'scope' && byScope(route.config.scope!)),
        } as never,
      }
    },
  })
  app.after(() => {
    const open = { metricsAccess: 'public', referenceAccess: 'public' } as const
    const deps = { ...open, metrics: createMetrics() } as Partial<RouteDeps> as RouteDeps
    addPublicRoutes(app, deps)
    addManagementRoutes(app, deps)
    addMore(app)
  })
  await app.ready()
  const document = app.swagger() as never as {
    paths: Record<string, Record<string, Operation>>
  }
  // It answers by any method; one stands for all.
  document.paths['/gateway/authorize'] = { get: document.paths['/gateway/authorize']!.get! }
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      // The plugin takes every body for required.
      if (withOptionalBody.has(operation.operationId)) operation.requestBody!.required = false
      operation.responses.default = {
        description: 'Refused; the body says why and what to do.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      }
      const source = curlSample(path, method, operation)
      if (source) operation['x-codeSamples'] = [{ lang: 'Shell', label: 'curl', source }]
    }
  return document
}
