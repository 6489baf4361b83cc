import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'

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

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')
const POLICY = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
/** Pages load nothing but the icon, run no script, and have one style, which the policy allows by its hash. */
const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src 'self'`

export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Rows of a link and its description. */
export function linkList(rows: readonly (readonly [url: string, name: string, says: string])[]): string {
  const shown = rows.map(
    ([url, name, says]) => `<div><dt><a href="${url}">${name}</a></dt><dd>${escapeHtml(says)}</dd></div>`,
  )
  return `<dl>${shown.join('')}</dl>`
}

/** `head` and `body` are HTML, `sources` are the sources that the content security policy allows. */
export const sendHtml = (
  reply: FastifyReply,
  { title, head = '', body, sources }: { title: string; head?: string; body: string; sources: string },
): FastifyReply =>
  reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', `${sources}; ${POLICY}`)
    .header('referrer-policy', 'no-referrer')
    .send(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title>
<link rel="icon" href="/favicon.ico">${head}</head>
<body>${body}</body>
</html>
`)

/** A page in the style of Jeton. `title` is text, `body` is HTML. */
export function sendPage(reply: FastifyReply, page: { title: string; body: string }): FastifyReply {
  const header = '<header><a href="/"><span class="coin"></span>Jeton</a></header>'
  const body = `${header}\n<main>${page.body}</main>`
  return sendHtml(reply, { title: page.title, head: `<style>${STYLE}</style>`, body, sources: PAGE_POLICY })
}
