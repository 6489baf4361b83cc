import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../server/src/platform/clock.ts'
import { newFolder } from '../../server/test/command-line.ts'
import { startService, type TestService } from '../../server/test/service.ts'
import { accessibilityFindings, turnedText, widerThanWindow } from './accessibility.ts'
import { describeInBrowser, openBrowser } from './browser.ts'
import { type HostileProject, openHostileProject } from './hostile-project.ts'
import { openPage, PAGES } from './pages.ts'

const ENV = {
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
}

/** Elements that data became, where it should have stayed text. */
const createdByData = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const elements = document.querySelectorAll(
      '#root :is(script, img, iframe, object, embed), [href^="javascript:" i]',
    )
    const ran = '__hostile' in window ? ['a script of the data ran'] : []
    return [...ran, ...[...elements].map((element) => element.outerHTML.slice(0, 200))]
  })

/** Pages that show the hostile name in their content. */
const SHOWING = ['API keys', 'API key', 'Event', 'Customers', 'Customer', 'Audit log', 'Operators']

describeInBrowser('every page', () => {
  let service: TestService
  let hostile: HostileProject
  beforeAll(async () => {
    const env = { ...ENV, JETON_DATA_DIR: newFolder('every-page') }
    service = await startService(env, { clock: systemClock })
    hostile = await openHostileProject(service)
  })
  afterAll(async () => {
    await hostile?.receiver.close()
    await service.stop()
  })

  test.each(Object.keys(PAGES))(
    '%s: data stays text, axe finds nothing, light or dark, and 360 px are enough',
    async (name) => {
      const { page } = await openBrowser(service.url)
      await openPage(page, PAGES[name]!(hostile))
      expect(await createdByData(page)).toEqual([])
      expect(await turnedText(page)).toEqual([])
      if (SHOWING.includes(name))
        expect(await page.locator('main').textContent()).toContain('<img src=x onerror=')
      expect(await accessibilityFindings(page), 'light').toEqual([])
      await page.emulateMedia({ colorScheme: 'dark' })
      expect(await accessibilityFindings(page), 'dark').toEqual([])
      await page.setViewportSize({ width: 360, height: 740 })
      await expect.poll(() => widerThanWindow(page)).toEqual([])
      // Details that are closed at first have content of receivers in them.
      await page.evaluate(() => {
        for (const element of document.querySelectorAll('details')) element.open = true
      })
      expect(await widerThanWindow(page), 'with open details').toEqual([])
      expect(await createdByData(page)).toEqual([])
    },
  )
})
