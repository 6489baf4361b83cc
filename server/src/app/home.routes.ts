import type { FastifyRequest } from 'fastify'
import type { App } from '../platform/http/index.ts'
import { linkList, sendPage } from './docs/page.ts'

export interface HomeDeps {
  /** True if the reference, the guides and the metrics are public on this listener. */
  readonly hasReference: boolean
  /** True if this listener serves the API; otherwise it is the management listener. */
  readonly hasApi: boolean
  /** True if this listener serves the console, where browsers go at once. */
  readonly hasConsole: boolean
}

const DESCRIPTION = 'OAuth 2.0 token service and webhook engine for loyalty and promotion APIs.'

type Row = readonly [url: string, name: string, says: string]
const REFERENCE: readonly Row[] = [
  ['/docs', 'Documentation', 'Guides, operation and reference, with search.'],
  ['/docs/api', 'API reference', 'Every operation, with its fields, errors and samples.'],
  ['/openapi.json', 'OpenAPI document', 'The same for code generators and API clients.'],
]
const ERRORS: readonly Row[] = [['/docs/errors', 'Errors', 'What each error means, and what to do.']]
const HEALTH: readonly Row[] = [['/health/ready', 'Health', 'Whether this process can serve requests.']]
const METRICS: readonly Row[] = [['/metrics', 'Metrics', 'For Prometheus.']]
const STANDARDS: readonly Row[] = [
  ['/.well-known/oauth-authorization-server', 'OAuth metadata', 'Endpoints and methods, as in RFC 8414.'],
  ['/events', 'Event schemas', 'What webhooks receive, as JSON Schema.'],
]

const section = (title: string, rows: readonly Row[]): string => `<h2>${title}</h2>${linkList(rows)}`

function homePage({ hasReference, hasApi }: HomeDeps) {
  const read = [...(hasReference ? REFERENCE : []), ...(hasApi ? ERRORS : [])]
  const service = [...(hasApi ? HEALTH : []), ...(hasReference ? METRICS : []), ...(hasApi ? STANDARDS : [])]
  return {
    title: 'Jeton',
    body: `<h1>Jeton is running</h1><p>${DESCRIPTION}</p>
${hasReference ? '' : '<p class="dim">The documentation is available to operators of this service only.</p>'}
${section('Documentation', read)}
${section('This service', service)}`,
  }
}

function homeDocument({ hasReference, hasApi, hasConsole }: HomeDeps) {
  const reference = {
    documentation: '/docs',
    reference: '/docs/api',
    openapi: '/openapi.json',
    metrics: '/metrics',
  }
  const api = {
    errors: '/docs/errors',
    health: '/health/ready',
    oauth_metadata: '/.well-known/oauth-authorization-server',
    events: '/events',
  }
  return {
    name: 'Jeton',
    description: DESCRIPTION,
    links: {
      ...(hasConsole && { console: '/console/' }),
      ...(hasReference && reference),
      ...(hasApi && api),
    },
  }
}

const wantsHtml = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/html') === true

/** A coin, 32 by 32. */
const ICON = Buffer.from(
  'AAABAAEAICAAAAEAIACaAQAAFgAAAIlQTkcNChoKAAAADUlIRFIAAAAgAAAAIAgGAAAAc3p69AAAAWFJREFUeNrNl72Rg0AM' +
    'hT1zwYaEDgiuAELCK4GAAiiFgBk3QEBAQAmu4CIKoIALXAIFOLyTZ8SNRveEjfGNNviSlXb3rbTan8Pn6f3gyRbnQJRER0zE' +
    'THwzM7d17BNeKSAhGjXhPWbuk+wVUG2cGAmpnhHwRgw7JtYMPOZDAm6O55UVtURBpKJPym3tSsTOSAQSgFZ+JeoHN1dg36sR' +
    'iVUBFeh0IbInSizjvnq8yhKQgPDdBjjuqPMjEDHL6pDODQh79oLDJgPpaLSAAFZfrwz6QfTEyPTcZvnXIApBCigth43laZUb' +
    'WmApBXTK2BorGcAeudzb6Uyr/DopYFLGwgj7Yv8icmHLuW2xo3QUao5JCtDhScEAvbDnwJ4Lew/sKUjzrwCdSxTCUYTd2mxL' +
    'OkbD/meeaAS4p8B9E7qXoftB5H4Uu19GUVzH7g+SKJ5kUTxK3Z/lUXxMovmaRfE5/Vd+AGER9lccCtW9AAAAAElFTkSuQmCC',
  'base64',
)

/** Leads browsers to the console, or shows them what runs here, with links. Programs get the same as JSON. */
export function homeRoutes(app: App, deps: HomeDeps): void {
  const config = { access: 'public', management: !deps.hasApi } as const
  const hidden = { hide: true } as never

  app.get('/', { config, schema: hidden }, (request, reply) => {
    reply.header('vary', 'accept')
    if (!wantsHtml(request)) return reply.send(homeDocument(deps))
    return deps.hasConsole ? reply.redirect('/console/') : sendPage(reply, homePage(deps))
  })
  app.get('/favicon.ico', { config, schema: hidden }, (_, reply) =>
    reply.header('content-type', 'image/x-icon').header('cache-control', 'public, max-age=86400').send(ICON),
  )
}
