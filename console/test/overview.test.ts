import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../server/src/platform/clock.ts'
import { eachEngine } from '../../server/test/engines.ts'
import { startService, type TestService } from '../../server/test/service.ts'
import { describeInBrowser, openBrowser } from './browser.ts'
import { openPage } from './pages.ts'

const NEAR_LIMIT = 810
const AT_ONCE = 90

describeInBrowser('the overview', () => {
  eachEngine((engine) => {
    let service: TestService
    beforeAll(async () => {
      service = await startService(await engine.settings(), { clock: systemClock, worker: false })
    })
    afterAll(() => service.stop())

    test('a project near its limit of tokens offers to limit the key that holds most of them', async () => {
      const { id } = await service.project('Shop')
      const [small, large] = [await service.key(id, { name: 'till' }), await service.key(id, { name: 'pod' })]
      await service.issue(small)
      for (let issued = 0; issued < NEAR_LIMIT; issued += AT_ONCE)
        await Promise.all(Array.from({ length: AT_ONCE }, () => service.issue(large)))
      const { page } = await openBrowser(service.url)
      await openPage(page, `/projects/${id}/overview`)
      await page.getByText('tokens near limit').waitFor()
      await page.getByRole('button', { name: 'Limit pod' }).click()
      await page.getByLabel('Active tokens, at most').fill('820')
      await page.getByRole('button', { name: 'Save limit' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect((await service.manage('GET', large.path)).body.token_limit).toBe(820)
      expect((await service.manage('GET', small.path)).body.token_limit).toBe(null)
    })
  })
})
