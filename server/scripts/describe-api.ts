import swagger from '@fastify/swagger'
import type { FastifyContextConfig } from 'fastify'
import { IsOptional } from 'typebox'
import { addManagementRoutes, addPublicRoutes, type RouteDeps } from '../src/app/routes.ts'
import { VERSION } from '../src/app/version.ts'
import type { Scope } from '../src/contract/scopes.ts'
import { systemClock } from '../src/platform/clock.ts'
import { type App, createHttp } from '../src/platform/http/index.ts'
import { createLog } from '../src/platform/log.ts'
import { createMetrics } from '../src/platform/metrics.ts'
import { EXAMPLES, FIELDS, OPERATIONS } from './api-descriptions.ts'
import { curlSample } from './curl-samples.ts'
import { describeFields, type Schema, SharedSchemas } from './shared-schemas.ts'

const ErrorBody = {
  type: 'object',
  description:
    'Every error has this body; `key` is stable. OAuth endpoints add `error` and `error_description`.',
  required: ['code', 'key', 'message', 'request_id', 'doc_url'],
  properties: {
    code: { type: 'integer', description: 'The HTTP status.' },
    key: { type: 'string', description: 'Stable name of the error.' },
    message: { type: 'string', description: 'What is wrong.' },
    details: { type: 'string', description: 'What to do.' },
    resource_id: { type: 'string', description: 'Id of the resource, if the error is about one.' },
    resource_type: { type: 'string', description: 'Type of that resource.' },
    request_id: { type: 'string', description: 'Id of the request; operators look it up.' },
    doc_url: { type: 'string', description: 'Page about this error.' },
    error: { type: 'string', description: 'RFC 6749, on OAuth endpoints.' },
    error_description: {
      type: 'string',
      description: 'The message, in the characters that RFC 6749 allows.',
    },
  },
}

const header = (name: string, description: string) =>
  ({ type: 'apiKey', in: 'header', name, description }) as const

/** OpenAPI 3.1 lets any scheme list its required scopes. `x-scope` does the same for the key pair. */
const byScope = (scope: Scope) => ({
  security: [{ bearer: [scope] }, { appId: [], appToken: [] }],
  'x-scope': scope,
})

/** `x-role` is the least role; `x-projects` is `all` if operators who are limited to projects cannot call it. */
const byRole = ({ role, projects }: FastifyContextConfig) => ({
  security: [{ managementId: [], managementToken: [] }, { session: [] }],
  'x-role': role,
  ...(projects && { 'x-projects': projects }),
})

interface Content {
  schema?: Schema
  example?: unknown
}

interface Operation {
  readonly operationId?: string
  description?: string
  readonly parameters?: { name: string; in: string; description?: string }[]
  readonly requestBody?: { required: boolean; content: Record<string, Content> }
  readonly responses: Record<string, { description: string; content?: Record<string, Content> }>
  'x-codeSamples'?: readonly object[]
}

const SUCCESS: Readonly<Record<string, string>> = {
  200: 'Success.',
  201: 'Created.',
  204: 'Success, without a body.',
  404: 'No active token to revoke.',
  503: 'Not ready; the body has the reason.',
}

function addExample({ operationId, requestBody }: Operation): void {
  const example = EXAMPLES[operationId ?? '']
  const json = requestBody?.content['application/json']
  if (json && example !== undefined) json.example ??= example
}

/** Adds descriptions where the route has none, and moves the schemas of resources to `components`. */
function describeOperation(operation: Operation, shared: SharedSchemas): void {
  operation.description ??= OPERATIONS[operation.operationId ?? '']
  for (const parameter of operation.parameters ?? [])
    parameter.description ??= parameterDescription(parameter.name)
  for (const { schema } of Object.values(operation.requestBody?.content ?? {}))
    if (schema) describeFields(schema, FIELDS)
  for (const [status, response] of Object.entries(operation.responses)) {
    if (response.description === 'Default Response')
      response.description = SUCCESS[status] ?? response.description
    for (const content of Object.values(response.content ?? {})) {
      if (!content.schema) continue
      describeFields(content.schema, FIELDS)
      content.schema = shared.share(content.schema)
    }
  }
}

const parameterDescription = (name: string): string | undefined => {
  const resource = name.replace(/_?[iI]d$/, '').replaceAll('_', ' ')
  return resource === name ? FIELDS[name] : `Id of the ${resource.toLowerCase()}.`
}

const DESCRIPTION =
  'API clients exchange an API key (app id and app token) for a 15-minute access token that is limited to scopes. APIs ask whether a token is active. Customers earn points and redeem rewards, and each redemption writes an event. Operators manage projects, keys, tokens and webhooks.\n\nThe samples read the address of the server, credentials and ids from shell variables: `export JETON_URL=… APP_ID=… APP_TOKEN=…`.'

/** Generates the OpenAPI document from the routes. Nothing of it runs, so their dependencies are missing. */
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
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: '__Host-jeton_session',
            description:
              'Cookie of a browser that has signed in; `jeton_session_<port>` on loopback. Requests also send `X-Jeton-Console: 1`.',
          },
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
          ...(route.config?.access === 'operator' && byRole(route.config)),
          ...(schema as object),
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
  // A copy, because schemas share parts, and each occurrence gets its own description.
  const document = JSON.parse(JSON.stringify(app.swagger())) as {
    paths: Record<string, Record<string, Operation>>
    components: { schemas: Record<string, Schema> }
  }
  const shared = new SharedSchemas()
  // It answers any method. The document shows one.
  document.paths['/gateway/authorize'] = { get: document.paths['/gateway/authorize']!.get! }
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      // The plugin marks every body as required.
      if (withOptionalBody.has(operation.operationId)) operation.requestBody!.required = false
      operation.responses.default = {
        description: 'Refused; the body has the reason and the remedy.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      }
      addExample(operation)
      const source = curlSample(path, method, operation)
      if (source) operation['x-codeSamples'] = [{ lang: 'Shell', label: 'curl', source }]
      describeOperation(operation, shared)
    }
  Object.assign(document.components.schemas, shared.schemas)
  return document
}
