import { Marked, type Token, type Tokens } from 'marked'
import { escapeHtml } from './page.ts'
import { findPage } from './pages.ts'

/** Same anchors as on GitHub, so that links work in both. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')

/** Resolves a relative link of a page. Returns null for a file that is not served. */
function resolveLink(href: string, from: string): string | null {
  if (/^(https?:|#|\/)/.test(href)) return href
  const { pathname, hash } = new URL(href, `http://docs/docs/${from}`)
  if (pathname.startsWith('/docs/diagrams/') || pathname.startsWith('/docs/errors')) return pathname
  const path = pathname.replace(/^\/docs\//, '')
  if (path.startsWith('events/') && path.endsWith('.json')) return `/${path}`
  return path.endsWith('.md') && findPage(path.slice(0, -3)) ? `/docs/${path.slice(0, -3)}${hash}` : null
}

/** Renders a page of our own documentation. HTML is dropped: it only contains comments for tests. */
export function renderMarkdown(text: string, path: string): string {
  const marked = new Marked({
    renderer: {
      html: () => '',
      heading({ tokens, depth, text: heading }: Tokens.Heading): string {
        const id = anchorOf(heading.replace(/[`*]/g, ''))
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }: Tokens.Link): string {
        const [url, inner] = [resolveLink(href, path), this.parser.parseInline(tokens)]
        return url === null ? inner : `<a href="${escapeHtml(url)}">${inner}</a>`
      },
      image({ href, text: alt }: Tokens.Image): string {
        return `<img src="${escapeHtml(resolveLink(href, path) ?? '')}" alt="${escapeHtml(alt)}">`
      },
      table(token: Tokens.Table): string {
        const row = (cells: Tokens.TableCell[], tag: 'th' | 'td') =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`
        const head = token.header.some(({ text: cell }) => cell !== '')
          ? `<thead>${row(token.header, 'th')}</thead>`
          : ''
        return `<div class="table"><table>${head}<tbody>${token.rows.map((cells) => row(cells, 'td')).join('')}</tbody></table></div>\n`
      },
    },
  })
  return marked.parse(text, { async: false })
}

export interface SearchEntry {
  readonly url: string
  readonly title: string
  readonly text: string
}

const plainText = (token: Token): string =>
  ('text' in token ? String(token.text) : token.raw).replace(/[`*|[\]]|\(\S+\)/g, ' ')

/** One entry per heading, with the text below it. */
export function searchEntries(text: string, page: { path: string; title: string }): SearchEntry[] {
  const entries: { url: string; title: string; text: string }[] = []
  for (const token of new Marked().lexer(text)) {
    if (token.type === 'heading') {
      const heading = (token as Tokens.Heading).text.replace(/[`*]/g, '')
      const isPage = (token as Tokens.Heading).depth === 1
      const title = isPage ? page.title : `${page.title}: ${heading}`
      entries.push({ url: `/docs/${page.path}${isPage ? '' : `#${anchorOf(heading)}`}`, title, text: '' })
    } else if (token.type !== 'html' && token.type !== 'space') entries.at(-1)!.text += ` ${plainText(token)}`
  }
  return entries.map((entry) => ({ ...entry, text: entry.text.replace(/\s+/g, ' ').trim() }))
}
