import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../server/src/platform/clock.ts'
import { newFolder } from '../../server/test/command-line.ts'
import { startService, type TestService } from '../../server/test/service.ts'
import { describeInBrowser, openBrowser } from './browser.ts'
import { openPage } from './pages.ts'

describeInBrowser('the frame of every page', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService(
      { JETON_DATA_DIR: newFolder('frame') },
      { clock: systemClock, worker: false },
    )
  })
  afterAll(() => service.stop())

  test('a page of the service that is opened directly shows the navigation of a project', async () => {
    const { id } = await service.project('Shop')
    const { page } = await openBrowser(service.url)
    for (const path of ['/system', '/operators', '/sessions']) {
      await openPage(page, path)
      await page.getByRole('button', { name: 'Project: Shop' }).waitFor()
      const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'API keys' })
      expect(await link.getAttribute('href')).toBe(`/console/projects/${id}/api-keys`)
    }
  })
})
