import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Axe = { run: (context: object) => Promise<AxeResults> }

/** React Aria announces changes here for some seconds, also of buttons that have disappeared by then. */
const ANNOUNCEMENTS = '[data-live-announcer]'

/** Findings of axe on the page, one line per element. */
export async function accessibilityFindings(page: Page): Promise<string[]> {
  await page.evaluate(SOURCE)
  const { violations } = await page.evaluate(
    (left) => (window as unknown as { axe: Axe }).axe.run({ exclude: [[left]] }),
    ANNOUNCEMENTS,
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 160)} ${failureSummary.slice(0, 300)}`,
    ),
  )
}

/** Elements that are wider than the window, where the page scrolls sideways. */
export const widerThanWindow = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    if (scrollWidth <= clientWidth) return []
    const wide = [...document.querySelectorAll<HTMLElement>('body *')].filter((element) => {
      const { right, width } = element.getBoundingClientRect()
      return width > 0 && right > clientWidth + 1
    })
    return [
      `${scrollWidth} > ${clientWidth}`,
      ...wide.slice(0, 8).map((element) => element.outerHTML.slice(0, 160)),
    ]
  })

/**
 * Texts with marks that turn the direction, in one line with other text and not isolated from it: a name could then change
 * how the text around it reads.
 */
export const turnedText = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const texts = document.createTreeWalker(document.querySelector('main')!, NodeFilter.SHOW_TEXT)
    const found: string[] = []
    while (texts.nextNode()) {
      const text = texts.currentNode.textContent ?? ''
      if (!/[\u202A-\u202E\u2066-\u2069]/.test(text)) continue
      let around = texts.currentNode.parentElement!
      const isInline = () => getComputedStyle(around).display === 'inline'
      const isIsolated = () => /isolate|plaintext/.test(getComputedStyle(around).unicodeBidi)
      while (isInline() && !isIsolated()) around = around.parentElement!
      // A text in a flexible box is a block of its own.
      const isItem =
        around === texts.currentNode.parentElement && /flex|grid/.test(getComputedStyle(around).display)
      if (!isItem && around.textContent?.trim() !== text.trim()) found.push(around.outerHTML.slice(0, 200))
    }
    return found
  })
