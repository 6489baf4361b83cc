import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { notFound } from '../contract/problem.ts'
import type { App } from '../platform/http/index.ts'
import type { ReferenceDeps } from './docs.routes.ts'
import { escapeHtml, sendPage } from './docs-pages.ts'

/** The guides in `docs/guides`, in the order in which they are listed. */
export const GUIDES = [
  ['protect-an-api', 'Protect an API', 'Let nginx, Caddy, Traefik or Envoy ask Jeton about every call.'],
  ['receive-events', 'Receive events', 'Signatures, retries, and receivers in Node and Python.'],
  ['loyalty', 'Earn, hold, redeem', 'Customers, points and rewards.'],
  ['report-redemptions', 'Report redemptions', 'Keep your own ledger, and let Jeton send the events.'],
  ['operate', 'Operate', 'Settings, metrics, upgrades and troubleshooting.'],
  ['backup', 'Back up', 'Copies of the store, and how to restore one.'],
  ['several-machines', 'Several machines', 'More processes and machines behind a load balancer.'],
] as const

/** Beside the program in a package, at the root of a checkout. */
const inPackage = new URL('../../docs/guides/', import.meta.url)
const FOLDER = existsSync(inPackage) ? inPackage : new URL('../../../docs/guides/', import.meta.url)

/** Each guide as it was written, in Markdown. */
export function guideRoutes(app: App, { referenceAccess }: Pick<ReferenceDeps, 'referenceAccess'>): void {
  const config = { access: referenceAccess, management: true } as const
  app.get('/docs/guides/:name', { config, schema: { hide: true } as never }, async (request, reply) => {
    const { name } = request.params as { name: string }
    const guide = GUIDES.find(([known]) => known === name)
    if (!guide) throw notFound('guide', name)
    const text = await readFile(new URL(`${guide[0]}.md`, FOLDER), 'utf8')
    return sendPage(reply, { title: `${guide[1]}: Jeton`, body: `<pre>${escapeHtml(text)}</pre>` })
  })
}
