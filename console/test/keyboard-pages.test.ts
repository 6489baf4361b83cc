import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../server/src/platform/clock.ts'
import { newFolder } from '../../server/test/command-line.ts'
import { startService, type TestService } from '../../server/test/service.ts'
import { describeInBrowser, openBrowser } from './browser.ts'
import { type HostileProject, openHostileProject } from './hostile-project.ts'
import { openPage, PAGES } from './pages.ts'

const ENV = {
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
}
const MAX_STEPS = 400

/** Numbers everything that can be used, in the order of the document, and returns how each one starts. */
const numberControls = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const USABLE = 'a[href], button, input, select, textarea, summary, [tabindex="0"]'
    const all = [...document.querySelectorAll<HTMLElement>(USABLE)].filter(
      (element) =>
        element.tabIndex >= 0 &&
        !element.matches(':disabled, [aria-disabled="true"]') &&
        element.checkVisibility({ visibilityProperty: true }),
    )
    for (const [at, element] of all.entries()) element.dataset.number = String(at)
    return all.map((element) => element.outerHTML.slice(0, 140))
  })

interface Focus {
  /** The number of the control; -1 if the focus has left the page. */
  readonly number: number
  readonly isVisible: boolean
}

/** The control that has the focus: whether its outline can be seen, and no other element covers it. */
const focusOf = (page: Page): Promise<Focus> =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLElement
    const number = Number(element.dataset.number ?? -1)
    const { outlineStyle, outlineWidth } = getComputedStyle(element)
    const { left, top, width, height } = element.getBoundingClientRect()
    const middle = document.elementFromPoint(left + Math.min(width, 40) / 2, top + Math.min(height, 20) / 2)
    const isInSight = middle !== null && (element.contains(middle) || middle.contains(element))
    return { number, isVisible: outlineStyle !== 'none' && outlineWidth !== '0px' && isInSight }
  })

/** Tab goes on from the element that had the focus last: from the body it leads to the first control. */
const startAtTop = (page: Page): Promise<void> =>
  page.evaluate(() => {
    document.body.tabIndex = -1
    document.body.focus()
    document.body.removeAttribute('tabindex')
  })

/** Presses Tab from the top of the page until the focus leaves it. */
async function tabThrough(page: Page): Promise<Focus[]> {
  const passed: Focus[] = []
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    await page.keyboard.press('Tab')
    const focus = await focusOf(page)
    if (focus.number < 0 || (passed.length > 0 && focus.number === passed[0]!.number)) return passed
    passed.push(focus)
  }
  throw new Error(`Tab has not left the page after ${MAX_STEPS} steps.`)
}

const isFocusInDialog = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.activeElement?.closest('[role=dialog], [role=alertdialog]') !== null)

/** Opens a dialog with Enter, walks through it, and closes it with Escape. */
async function walkThroughDialog(page: Page, name: string): Promise<void> {
  const dialog = page.getByRole('dialog')
  await page.keyboard.press('Enter')
  await dialog.waitFor()
  await expect.poll(() => isFocusInDialog(page), { message: `${name}: the focus moves in` }).toBe(true)
  const controls = await dialog.locator('button, input, select, textarea, a[href], summary, pre').count()
  for (let steps = 0; steps <= Math.min(controls, 60) + 1; steps++) {
    await page.keyboard.press('Tab')
    expect(await isFocusInDialog(page), `${name}: Tab stays in the dialog`).toBe(true)
  }
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
}

describeInBrowser('every page by keyboard alone', () => {
  let service: TestService
  let shop: HostileProject
  beforeAll(async () => {
    const env = { ...ENV, JETON_DATA_DIR: newFolder('keyboard-pages') }
    service = await startService(env, { clock: systemClock })
    shop = await openHostileProject(service)
  })
  afterAll(async () => {
    await shop?.receiver.close()
    await service.stop()
  })

  test.each(Object.keys(PAGES))(
    '%s: Tab reaches every control in order and in sight, and each dialog takes the focus and gives it back',
    async (title) => {
      const { page } = await openBrowser(service.url)
      await openPage(page, PAGES[title]!(shop))
      await page.waitForLoadState('networkidle')
      const controls = await numberControls(page)
      await startAtTop(page)
      const passed = await tabThrough(page)
      const numbers = passed.map(({ number }) => number)
      expect(controls.filter((_, at) => !numbers.includes(at))).toEqual([])
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
      expect(passed.filter(({ isVisible }) => !isVisible).map(({ number }) => controls[number])).toEqual([])
      for (const trigger of await page.locator('main button[aria-expanded]:not(:disabled)').all()) {
        const name = (await trigger.textContent())!.trim()
        await trigger.focus()
        await walkThroughDialog(page, `${title}, ${name}`)
        const isBack = () => trigger.evaluate((element) => element === document.activeElement)
        await expect.poll(isBack, { message: `${title}, ${name}: the focus returns` }).toBe(true)
      }
    },
  )
})
