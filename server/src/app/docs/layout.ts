import { escapeHtml } from './page.ts'
import { SECTIONS } from './pages.ts'

export const STYLE = `
:root{color-scheme:light dark;--ground:#fbfaf7;--card:#fff;--line:#e7e3da;--ink:#1f1d1a;--dim:#6f6a60;--accent:#8a5f11}
@media (prefers-color-scheme:dark){:root{--ground:#171613;--card:#1f1e1a;--line:#35322b;--ink:#ece8df;--dim:#a09a8c;--accent:#d9a441}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.6 system-ui,sans-serif}
a{color:var(--accent);text-underline-offset:.15em}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.frame{display:grid;grid-template-columns:16rem minmax(0,1fr);max-width:78rem;margin:0 auto}
aside{position:sticky;top:0;align-self:start;max-height:100vh;overflow:auto;padding:1.5rem 1.25rem 3rem;border-right:1px solid var(--line)}
.brand{display:inline-flex;align-items:center;gap:.6rem;color:inherit;text-decoration:none;font-weight:650}
.coin{width:1.35rem;height:1.35rem;border:.17rem solid var(--accent);border-radius:50%;display:grid;place-items:center}
.coin::after{content:"";width:.5rem;height:.5rem;border:.13rem solid var(--accent);border-radius:50%}
input[type=search]{width:100%;margin:1.1rem 0 .4rem;padding:.45rem .6rem;font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:.5rem}
aside h2{font-size:.75rem;text-transform:uppercase;letter-spacing:.06em;color:var(--dim);margin:1.3rem 0 .35rem}
aside ul{list-style:none;margin:0;padding:0}
aside li a{display:block;padding:.18rem .5rem;margin:0 -.5rem;border-radius:.35rem;color:inherit;text-decoration:none}
aside li a:hover{text-decoration:underline}
aside li a[aria-current]{background:var(--card);box-shadow:inset .18rem 0 var(--accent);font-weight:600}
main{padding:1.5rem 2.5rem 5rem;max-width:56rem;width:100%}
h1{font-size:1.75rem;line-height:1.25;letter-spacing:-.01em;margin:.4rem 0 1rem}
h2{font-size:1.2rem;margin:2.4rem 0 .6rem}h3{font-size:1rem;margin:1.8rem 0 .5rem}
p,ul,ol{margin:.7rem 0}li{margin:.25rem 0}
code,pre{font:.875em/1.55 ui-monospace,Menlo,Consolas,monospace}
:not(pre)>code{background:var(--card);border:1px solid var(--line);border-radius:.3rem;padding:.05em .3em;overflow-wrap:anywhere}
pre{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.85rem 1rem;overflow:auto;font-size:.8125rem}
.table{overflow-x:auto;margin:1rem 0;border:1px solid var(--line);border-radius:.6rem;background:var(--card)}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.45rem .8rem;border-top:1px solid var(--line)}
thead th,tr:first-child td{border-top:0}thead+tbody td{border-top:1px solid var(--line)}
th{font-weight:600;color:var(--dim)}td:first-child{min-width:8rem}
img{max-width:100%;background:#fff;border:1px solid var(--line);border-radius:.6rem;padding:1rem}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:.8rem;margin:.6rem 0}
.cards a{display:block;padding:.8rem 1rem;background:var(--card);border:1px solid var(--line);border-radius:.6rem;color:inherit;text-decoration:none}
.cards a:hover{border-color:var(--accent)}.cards strong{color:var(--accent)}.cards span,.dim{display:block;color:var(--dim);font-size:.9rem}
mark{background:none;color:var(--accent);font-weight:600}
@media (max-width:52rem){.frame{grid-template-columns:minmax(0,1fr)}aside{position:static;max-height:none;border-right:0;border-bottom:1px solid var(--line);padding-bottom:1rem}aside nav{display:none}aside:has(input:focus) nav,aside nav:focus-within{display:block}main{padding:1rem 1.25rem 4rem}}
`

/** Searches in the browser: each word must occur; titles count more than text. */
export const SCRIPT = `
const box = document.querySelector('input[type=search]')
const main = document.querySelector('main')
const page = main.innerHTML
let entries
async function search() {
  const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean)
  if (words.length === 0) { main.innerHTML = page; return }
  entries ??= await (await fetch('/docs/search.json')).json()
  const score = ({ title, text }) => words.reduce((sum, word) => {
    if (sum < 0) return sum
    const inTitle = title.toLowerCase().includes(word), inText = text.toLowerCase().includes(word)
    return inTitle ? sum + 10 : inText ? sum + 1 : -1
  }, 0)
  const found = entries.map((entry) => [score(entry), entry]).filter(([s]) => s > 0).sort(([a], [b]) => b - a).slice(0, 20)
  const heading = document.createElement('h1')
  heading.textContent = found.length > 0 ? 'Search results' : 'Nothing found'
  main.replaceChildren(heading, ...found.map(([, entry]) => resultOf(entry, words[0])))
}
function resultOf({ url, title, text }, word) {
  const item = document.createElement('p'), link = document.createElement('a'), shown = document.createElement('span')
  link.href = url
  link.textContent = title
  shown.className = 'dim'
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 60)
  shown.textContent = (at > 0 ? '… ' : '') + text.slice(at, at + 180)
  item.append(link, shown)
  return item
}
box.addEventListener('input', search)
main.addEventListener('click', ({ target }) => {
  const link = target.closest?.('a')
  if (link && box.value !== '' && new URL(link.href).pathname === location.pathname) { box.value = ''; main.innerHTML = page }
})
addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== box) { event.preventDefault(); box.focus() }
  if (event.key === 'Escape' && document.activeElement === box) { box.value = ''; search() }
})
`

function navigation(current: string): string {
  const item = (path: string, title: string) =>
    `<li><a href="/docs/${path}"${path === current ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a></li>`
  const sections = SECTIONS.map(
    ({ title, pages }) =>
      `<h2>${title}</h2><ul>${pages.map((one) => item(one.path, one.title)).join('')}${title === 'Reference' ? item('api', 'API') : ''}</ul>`,
  )
  return `<nav aria-label="Documentation">${sections.join('')}</nav>`
}

/** `body` is HTML. */
export const layout = ({
  title,
  path,
  body,
}: {
  title: string
  path: string
  body: string
}): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}: Jeton</title>
<link rel="icon" href="/favicon.ico"><link rel="stylesheet" href="/docs/style.css"><script src="/docs/search.js" defer></script></head>
<body><div class="frame"><aside><a class="brand" href="/docs"><span class="coin"></span>Jeton docs</a>
<input type="search" placeholder="Search ( / )" aria-label="Search the documentation">${navigation(path)}</aside>
<main>${body}</main></div></body>
</html>
`

/** The first page: every section with its pages. */
export function indexBody(): string {
  const card = (path: string, title: string, summary: string) =>
    `<a href="/docs/${path}"><strong>${escapeHtml(title)}</strong><span>${escapeHtml(summary)}</span></a>`
  const sections = SECTIONS.map(({ title, pages }) => {
    const cards = pages.map((one) => card(one.path, one.title, one.summary))
    if (title === 'Reference')
      cards.push(card('api', 'API', 'Every operation, with its fields, errors and samples.'))
    return `<h2>${title}</h2><div class="cards">${cards.join('')}</div>`
  })
  return `<h1>Jeton documentation</h1><p>OAuth 2.0 access tokens and signed webhooks for loyalty and promotion APIs.</p>${sections.join('')}`
}
