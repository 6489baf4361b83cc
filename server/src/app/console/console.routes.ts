import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../../contract/problem.ts'
import type { App } from '../../platform/http/index.ts'
import { sendPage } from '../docs/page.ts'
import { type BuiltConsole, readBuiltConsole } from './built-files.ts'

/** Scripts come from this origin only. React Aria adds two style elements, which carry the nonce. */
const policy = (nonce: string): string =>
  `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

const YEAR_SECONDS = 31_536_000
/** The paths of pages: segments of ids and names, where a source id may have any character. Anything else is no page. */
const PAGE = /^\/console\/(?:[\w/.:@~!$&'()*+,;=-]|%[\da-f]{2})*(?:\?|$)/i

const isolate = (reply: FastifyReply): FastifyReply =>
  reply
    .header('cross-origin-opener-policy', 'same-origin')
    .header('cross-origin-resource-policy', 'same-origin')
    .header('referrer-policy', 'no-referrer')

const MISSING = {
  title: 'Console',
  body: '<h1>Console</h1><p>The console is not built: run <code>npm ci</code> in the checkout, which builds it, and reload this page.</p>',
}

function sendConsole(reply: FastifyReply, built: BuiltConsole | undefined): FastifyReply {
  isolate(reply).header('cache-control', 'no-store')
  if (!built) return sendPage(reply.code(404), MISSING)
  const nonce = randomBytes(16).toString('base64')
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', policy(nonce))
    .send(built.page.replace('%NONCE%', nonce))
}

export interface ConsoleDeps {
  /** The files of the console; undefined if it was not built. */
  readonly readConsole?: typeof readBuiltConsole
}

/** The web console: one page for every address below `/console/`, and its scripts and styles. It needs no credential. */
export function consoleRoutes(app: App, { readConsole = readBuiltConsole }: ConsoleDeps): void {
  const route = { config: { access: 'public', management: true } as const, schema: { hide: true } as never }
  let files: Promise<BuiltConsole | undefined> | undefined

  async function builtFiles(): Promise<BuiltConsole | undefined> {
    files ??= readConsole()
    const built = await files.catch(() => undefined)
    // Not remembered, so that a build is found without a restart.
    if (!built) files = undefined
    return built
  }

  async function sendAsset(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { name } = request.params as { name: string }
    const asset = (await builtFiles())?.assets.get(name)
    if (!asset) throw notFound('file', name)
    const isCompressed = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
    if (isCompressed) reply.header('content-encoding', 'gzip')
    return isolate(reply)
      .header('content-type', asset.type)
      .header('cache-control', `public, max-age=${YEAR_SECONDS}, immutable`)
      .header('vary', 'accept-encoding')
      .send(isCompressed ? asset.gzipped : asset.plain)
  }

  app.get('/console', route, (_, reply) => isolate(reply).redirect('/console/'))
  app.get('/console/assets/:name', route, sendAsset)
  app.get('/console/*', route, async (request, reply) => {
    if (!PAGE.test(request.url) || request.url.startsWith('/console/assets'))
      throw notFound('page', 'console')
    return sendConsole(reply, await builtFiles())
  })
}
