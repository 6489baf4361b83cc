import type { FastifyReply } from 'fastify'
import { notFound } from '../../contract/problem.ts'
import { type App, forOperators } from '../../platform/http/index.ts'
import { indexBody, layout, SCRIPT, STYLE } from './layout.ts'
import { findPage, PAGES, readPage, readPicture } from './pages.ts'
import type { ReferenceDeps } from './reference.routes.ts'
import { renderMarkdown, type SearchEntry, searchEntries } from './render-markdown.ts'

/** All resources come from this server, so the pages work without internet. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Diagrams contain their styles, run no scripts and load nothing. */
const PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'"

const sendHtml = (reply: FastifyReply, html: string): FastifyReply =>
  reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', POLICY)
    .header('referrer-policy', 'no-referrer')
    .send(html)

async function searchIndex(): Promise<string> {
  const entries: SearchEntry[] = []
  for (const page of PAGES) entries.push(...searchEntries(await readPage(page), page))
  return JSON.stringify(entries)
}

/** The documentation, rendered from the Markdown files in `docs/`, with navigation and search. */
export function docsRoutes(app: App, { referenceAccess }: Pick<ReferenceDeps, 'referenceAccess'>): void {
  const route = {
    config: { ...forOperators('viewer', 'any'), access: referenceAccess },
    schema: { hide: true } as never,
  }
  let index: Promise<string> | undefined
  /** Pages are rendered once, because rendering blocks the event loop for milliseconds. */
  const rendered = new Map<string, string>()

  async function sendDocument(reply: FastifyReply, path: string): Promise<FastifyReply> {
    const page = findPage(path)
    if (!page) throw notFound('page', path)
    let html = rendered.get(path)
    if (html === undefined) {
      html = layout({ title: page.title, path, body: renderMarkdown(await readPage(page), path) })
      rendered.set(path, html)
    }
    return sendHtml(reply, html)
  }

  for (const url of ['/docs', '/docs/'])
    app.get(url, route, (_, reply) =>
      sendHtml(reply, layout({ title: 'Documentation', path: '', body: indexBody() })),
    )
  app.get('/docs/style.css', route, (_, reply) =>
    reply.header('content-type', 'text/css; charset=utf-8').send(STYLE),
  )
  app.get('/docs/search.js', route, (_, reply) =>
    reply.header('content-type', 'application/javascript; charset=utf-8').send(SCRIPT),
  )
  app.get('/docs/search.json', route, async (_, reply) => {
    index ??= searchIndex().catch((error) => {
      index = undefined
      throw error
    })
    return reply.header('content-type', 'application/json; charset=utf-8').send(await index)
  })
  for (const [folder, type] of [
    ['diagrams', 'image/svg+xml'],
    ['images', 'image/png'],
  ] as const)
    app.get(`/docs/${folder}/:name`, route, async (request, reply) => {
      const { name } = request.params as { name: string }
      const picture = await readPicture(`${folder}/${name}`)
      if (!picture) throw notFound('picture', name)
      return reply
        .header('content-type', type)
        .header('content-security-policy', PICTURE_POLICY)
        .send(picture)
    })
  app.get('/docs/:page', route, (request, reply) =>
    sendDocument(reply, (request.params as { page: string }).page),
  )
  app.get('/docs/:section/:page', route, (request, reply) => {
    const { section, page } = request.params as { section: string; page: string }
    return sendDocument(reply, `${section}/${page}`)
  })
}
