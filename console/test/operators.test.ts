import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../server/src/platform/clock.ts'
import { eachEngine } from '../../server/test/engines.ts'
import { byPair } from '../../server/test/operators.ts'
import { startService, type TestService } from '../../server/test/service.ts'
import { describeInBrowser, openBrowser } from './browser.ts'
import { openPage } from './pages.ts'

describeInBrowser('the page Operators', () => {
  eachEngine((engine) => {
    let service: TestService
    beforeAll(async () => {
      service = await startService(await engine.settings(), { clock: systemClock, worker: false })
      await service.project('Shop')
    })
    afterAll(() => service.stop())

    test('a new operator has the chosen role, and its token is shown once and is then gone', async () => {
      const { page } = await openBrowser(service.url)
      await openPage(page, '/operators')
      await page.getByRole('button', { name: 'New operator' }).first().click()
      await page.getByLabel('Name').fill('Ada')
      await page.getByLabel('Role').selectOption('editor')
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Create/ })
        .click()
      const panel = page.getByRole('dialog')
      await panel.getByText('Shown this once').waitFor()
      const [id, token] = await panel.locator('.code-block pre').allTextContents()
      const whoami = await byPair(service.url, { id: id!, token: token! })('GET', '/whoami')
      expect(whoami.body).toMatchObject({ operator: { name: 'Ada' }, role: 'editor' })
      await page.getByRole('button', { name: 'I have copied it' }).click()
      await panel.waitFor({ state: 'detached' })
      await page.getByRole('row', { name: /Ada/ }).waitFor()
      const kept = () =>
        JSON.stringify([document.documentElement.outerHTML, { ...localStorage }, { ...sessionStorage }])
      expect(await page.evaluate(kept)).not.toContain(token)
    })
  })
})
