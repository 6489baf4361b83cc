import type { FastifyReply } from 'fastify'
import type { App } from './app.ts'

/** Everything comes from this server, so the pages work without internet; styles are inlined by the reference's script. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const page = (reply: FastifyReply, html: string): FastifyReply =>
  reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', PAGE_POLICY)
    .header('referrer-policy', 'no-referrer')
    .send(html)

const REFERENCE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Jeton API reference</title>
<link rel="icon" href="/favicon.ico"></head>
<body>
<script id="api-reference" data-url="/openapi.json"
  data-configuration='{"withDefaultFonts":false,"telemetry":false,"agent":{"disabled":true},"mcp":{"disabled":true},"showDeveloperTools":"never","hideClientButton":true,"proxyUrl":""}'></script>
<script src="/docs/reference.js"></script>
<noscript>The reference needs JavaScript. The same in plain form: <a href="/openapi.json">openapi.json</a></noscript>
</body>
</html>
`

/** The script is 4 MB and its module holds 25: it is loaded when someone opens the page, and not before. */
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

/** `/openapi.json` and the reference that shows it; each made once, and one copy for all who read it. */
export function addReference(app: App, { openapi, referenceAccess }: ReferenceDeps): void {
  let script: Promise<Buffer> | undefined
  let described: Buffer | undefined
  const config = { access: referenceAccess, management: true } as const
  const hidden = { hide: true } as never

  app.get('/openapi.json', { config, schema: hidden }, (_, reply) => {
    described ??= Buffer.from(JSON.stringify(openapi()))
    return reply.header('content-type', 'application/json; charset=utf-8').send(described)
  })
  for (const url of ['/docs/api', '/docs/api/'])
    app.get(url, { config, schema: hidden }, (_, reply) => page(reply, REFERENCE))
  app.get('/docs/reference.js', { config, schema: hidden }, async (_, reply) => {
    script ??= loadScript().catch((error) => {
      script = undefined
      throw error
    })
    if (referenceAccess === 'public') reply.header('cache-control', 'public, max-age=86400')
    return reply.header('content-type', 'application/javascript; charset=utf-8').send(await script)
  })
}
