import { Type } from 'typebox'
import { ERRORS, type ErrorKey } from '../../contract/error-keys.ts'
import { notFound } from '../../contract/problem.ts'
import type { App } from './app.ts'
import { escapeHtml, linkList, sendPage } from './page.ts'

function errorPage(key: ErrorKey) {
  const { status, when, remedy } = ERRORS[key]
  return {
    title: `${key}: Jeton`,
    body: `<h1><code>${key}</code></h1><p class="dim">HTTP status ${status}</p><p>${escapeHtml(when)}</p>
<p><strong>What to do:</strong> ${escapeHtml(remedy)}</p><p><a href="/docs/errors">All errors</a></p>`,
  }
}

function indexPage() {
  const rows = Object.entries(ERRORS).map(
    ([key, { status, when }]) =>
      [`/docs/errors/${key}`, `<code>${key}</code>`, `${status}. ${when}`] as const,
  )
  return {
    title: 'Errors: Jeton',
    body: `<h1>Errors</h1><p class="dim">The <code>key</code> of an error body, its HTTP status and its cause.</p>${linkList(rows)}`,
  }
}

/** What every error's `doc_url` leads to. Always beside the API itself, so that the link works for whoever got the error. */
export function addErrorPages(app: App): void {
  const config = { access: 'public' } as const
  for (const url of ['/docs/errors', '/docs/errors/'])
    app.get(url, { config, schema: { hide: true } as never }, (_, reply) => sendPage(reply, indexPage()))
  app.get(
    '/docs/errors/:key',
    { config, schema: { hide: true, params: Type.Object({ key: Type.String() }) } as never },
    (request, reply) => {
      const { key } = request.params as { key: string }
      if (!Object.hasOwn(ERRORS, key)) throw notFound('error_key', key)
      return sendPage(reply, errorPage(key as ErrorKey))
    },
  )
}
