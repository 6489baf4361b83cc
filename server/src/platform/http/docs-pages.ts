import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { ERRORS, type ErrorKey } from '../../contract/error-keys.ts'
import { notFound } from '../../contract/problem.ts'
import type { App } from './app.ts'

const STYLE = `
:root{color-scheme:light dark;--ground:#fbfaf7;--card:#fff;--line:#e7e3da;--ink:#1f1d1a;--dim:#6f6a60;--accent:#8a5f11}
@media (prefers-color-scheme:dark){:root{--ground:#171613;--card:#1f1e1a;--line:#35322b;--ink:#ece8df;--dim:#a09a8c;--accent:#d9a441}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:46rem;padding:2.5rem 1.25rem 4rem;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
body:has(pre){max-width:66rem}
a{color:var(--accent);text-underline-offset:.15em}
a:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
header a{display:inline-flex;align-items:center;gap:.6rem;color:inherit;text-decoration:none;font-weight:650;letter-spacing:.01em}
.coin{width:1.35rem;height:1.35rem;border:.17rem solid var(--accent);border-radius:50%;display:grid;place-items:center}
.coin::after{content:"";width:.5rem;height:.5rem;border:.13rem solid var(--accent);border-radius:50%}
h1{font-size:1.6rem;line-height:1.25;letter-spacing:-.01em;margin:1.6rem 0 .5rem;overflow-wrap:anywhere}
h2{font-size:.95rem;margin:2.2rem 0 .6rem}
p{margin:.65rem 0}.dim,dd{color:var(--dim)}
p+dl{margin-top:1.2rem}
dl{display:grid;grid-template-columns:minmax(9.75rem,max-content) 1fr;margin:0;background:var(--card);border:1px solid var(--line);border-radius:.7rem}
dl div{display:grid;grid-column:1/-1;grid-template-columns:subgrid;gap:0 1.75rem;padding:.55rem 1rem;border-top:1px solid var(--line)}
dl div:first-child{border-top:0}dt,dd{margin:0;overflow-wrap:anywhere}
code,pre{font:.9em/1.55 ui-monospace,Menlo,Consolas,monospace}
pre{margin-top:1.6rem;font-size:.8125rem;white-space:pre-wrap;overflow-wrap:anywhere}
@media (max-width:38rem){dl,dl div{grid-template-columns:1fr}}
`

/** Pages load nothing but the icon, run no script, and have one style, which the policy names by its hash. */
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')
const SHARED_POLICY = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src 'self'; ${SHARED_POLICY}`
/** The script of the reference comes from this server, so that it works without internet; it adds styles of its own. */
const REFERENCE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
  `connect-src 'self'; ${SHARED_POLICY}`

export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Rows of a link and its description. */
export const linkList = (rows: readonly (readonly [url: string, name: string, says: string])[]): string =>
  `<dl>${rows
    .map(
      ([url, name, says]) => `<div><dt><a href="${url}">${name}</a></dt><dd>${escapeHtml(says)}</dd></div>`,
    )
    .join('')}</dl>`

const sendHtml = (reply: FastifyReply, policy: string, html: string): FastifyReply =>
  reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', policy)
    .header('referrer-policy', 'no-referrer')
    .send(html)

const HEAD =
  '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'

/** `title` is text, `body` is HTML. */
export const sendPage = (reply: FastifyReply, { title, body }: { title: string; body: string }) =>
  sendHtml(
    reply,
    PAGE_POLICY,
    `<!doctype html>
<html lang="en">
${HEAD}<title>${escapeHtml(title)}</title>
<link rel="icon" href="/favicon.ico"><style>${STYLE}</style></head>
<body><header><a href="/"><span class="coin"></span>Jeton</a></header>
<main>${body}</main></body>
</html>
`,
  )

const REFERENCE = `<!doctype html>
<html lang="en">
${HEAD}<title>Jeton API reference</title>
<link rel="icon" href="/favicon.ico"></head>
<body>
<script id="api-reference" data-url="/openapi.json"
  data-configuration='{"withDefaultFonts":false,"telemetry":false,"agent":{"disabled":true},"mcp":{"disabled":true},"showDeveloperTools":"never","hideClientButton":true,"proxyUrl":""}'></script>
<script src="/docs/reference.js"></script>
<noscript>The reference needs JavaScript. The same in plain form: <a href="/openapi.json">openapi.json</a></noscript>
</body>
</html>
`

/** Loads the script when someone opens the page: it has 4 MB, and its module takes 25 MB of memory. */
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
export function addReference(app: App, { openapi, referenceAccess }: ReferenceDeps): void {
  let script: Promise<Buffer> | undefined
  let document: Buffer | undefined
  const options = { config: { access: referenceAccess, management: true }, schema: hidden } as const

  app.get('/openapi.json', options, (_, reply) => {
    document ??= Buffer.from(JSON.stringify(openapi()))
    return reply.header('content-type', 'application/json; charset=utf-8').send(document)
  })
  for (const url of ['/docs/api', '/docs/api/'])
    app.get(url, options, (_, reply) => sendHtml(reply, REFERENCE_POLICY, REFERENCE))
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

/** The pages that `doc_url` of an error leads to. They are on the listener of the API, so that every client can open them. */
export function addErrorPages(app: App): void {
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
