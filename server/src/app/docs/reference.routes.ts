import { Type } from 'typebox'
import { ERRORS, type ErrorKey } from '../../contract/error-keys.ts'
import { notFound } from '../../contract/problem.ts'
import { type App, forOperators } from '../../platform/http/index.ts'
import { escapeHtml, linkList, sendHtml, sendPage } from './page.ts'

/** The script comes from this server, so that the page works without internet. It adds its own styles. */
const REFERENCE = {
  title: 'Jeton API reference',
  sources:
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'",
  body: `
<script id="api-reference" data-url="/openapi.json"
  data-configuration='{"withDefaultFonts":false,"telemetry":false,"agent":{"disabled":true},"mcp":{"disabled":true},"showDeveloperTools":"never","hideClientButton":true,"proxyUrl":""}'></script>
<script src="/docs/reference.js"></script>
<noscript>The reference needs JavaScript. The same in plain form: <a href="/openapi.json">openapi.json</a></noscript>
`,
}

/** Loads the script on demand: it has 4 MB, and its module takes 25 MB of memory. */
async function loadScript(): Promise<Buffer> {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const { default: fastify } = await import('fastify')
  const carrier = fastify()
  await carrier.register(reference, { routePrefix: '/r', configuration: { url: '/openapi.json' } })
  const { rawPayload } = await carrier.inject('/r/js/scalar.js')
  await carrier.close()
  return rawPayload
}

export interface ReferenceDeps {
  readonly openapi: () => object
  readonly referenceAccess: 'public' | 'operator'
}

const hidden = { hide: true } as never

/** `/openapi.json` and the page that shows it; each is built once. */
export function referenceRoutes(app: App, { openapi, referenceAccess }: ReferenceDeps): void {
  let script: Promise<Buffer> | undefined
  let document: Buffer | undefined
  const config = { ...forOperators('viewer', 'any'), access: referenceAccess }
  const options = { config, schema: hidden }

  app.get('/openapi.json', options, (_, reply) => {
    document ??= Buffer.from(JSON.stringify(openapi()))
    return reply.header('content-type', 'application/json; charset=utf-8').send(document)
  })
  for (const url of ['/docs/api', '/docs/api/'])
    app.get(url, options, (_, reply) => sendHtml(reply, REFERENCE))
  app.get('/docs/reference.js', options, async (_, reply) => {
    script ??= loadScript().catch((error) => {
      script = undefined
      throw error
    })
    if (referenceAccess === 'public') reply.header('cache-control', 'public, max-age=86400')
    return reply.header('content-type', 'application/javascript; charset=utf-8').send(await script)
  })
}

function errorPage(key: ErrorKey) {
  const { status, when, remedy } = ERRORS[key]
  return {
    title: `${key}: Jeton`,
    body: `<h1><code>${key}</code></h1><p class="dim">HTTP status ${status}</p><p>${escapeHtml(when)}</p>
<p><strong>What to do:</strong> ${escapeHtml(remedy)}</p><p><a href="/docs/errors">All errors</a></p>`,
  }
}

function errorIndex() {
  const rows = Object.entries(ERRORS).map(
    ([key, { status, when }]) =>
      [`/docs/errors/${key}`, `<code>${key}</code>`, `${status}. ${when}`] as const,
  )
  return {
    title: 'Errors: Jeton',
    body: `<h1>Errors</h1><p class="dim">The <code>key</code> of an error body, its HTTP status and its cause.</p>${linkList(rows)}`,
  }
}

/** Pages for the `doc_url` of errors. They are on the API listener, so that every client can open them. */
export function errorPageRoutes(app: App): void {
  const config = { access: 'public' } as const
  for (const url of ['/docs/errors', '/docs/errors/'])
    app.get(url, { config, schema: hidden }, (_, reply) => sendPage(reply, errorIndex()))
  const schema = { hide: true, params: Type.Object({ key: Type.String() }) } as never
  app.get('/docs/errors/:key', { config, schema }, (request, reply) => {
    const { key } = request.params as { key: string }
    if (!Object.hasOwn(ERRORS, key)) throw notFound('error_key', key)
    return sendPage(reply, errorPage(key as ErrorKey))
  })
}
