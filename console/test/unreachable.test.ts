import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../server/src/platform/clock.ts'
import { newFolder } from '../../server/test/command-line.ts'
import { startTcpProxy } from '../../server/test/faults/tcp-proxy.ts'
import { startService, type TestService } from '../../server/test/service.ts'
import { describeInBrowser, openBrowser } from './browser.ts'
import { openPage } from './pages.ts'

describeInBrowser('a server that does not answer', () => {
  let service: TestService
  let proxy: Awaited<ReturnType<typeof startTcpProxy>>
  let url: string
  let projectId: string
  beforeEach(async () => {
    service = await startService(
      { JETON_DATA_DIR: newFolder('unreachable') },
      { clock: systemClock, worker: false },
    )
    projectId = (await service.project('Shop')).id
    await service.key(projectId, { name: 'checkout' })
    proxy = await startTcpProxy({ port: Number(new URL(service.url).port) })
    url = `http://127.0.0.1:${proxy.port}`
  })
  afterEach(async () => {
    await proxy.close()
    await service.stop()
  })

  test('the last state stays, greyed and with its age, and becomes current again without a reload', async () => {
    const { page } = await openBrowser(url)
    await openPage(page, `/projects/${projectId}/api-keys`)
    const row = page.getByRole('link', { name: 'checkout' })
    await row.waitFor()
    proxy.setNetwork('refusing')
    proxy.cut()
    const banner = page.getByText(
      /The server is not reachable\. Shown is the state of \d\d:\d\d:\d\d, \d+ s ago\./,
    )
    await banner.waitFor()
    expect(await row.isVisible()).toBe(true)
    expect(
      await page.locator('main').evaluate((main) => getComputedStyle(main.lastElementChild!).opacity),
    ).not.toBe('1')
    const before = await banner.textContent()
    await expect.poll(() => banner.textContent()).not.toBe(before)
    await service.key(projectId, { name: 'created meanwhile' })
    proxy.setNetwork('normal')
    await banner.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'created meanwhile' }).waitFor()
  })

  test('a page that is left while it loads is no outage', async () => {
    const { page } = await openBrowser(url)
    await openPage(page, `/projects/${projectId}/api-keys`)
    // Never answered, and stopped by leaving the page.
    await page.route('**/management/v1/projects/*/events?*', () => undefined)
    const stopped = page.waitForEvent('requestfailed', (request) => request.url().includes('/events?'))
    await page.getByRole('link', { name: 'Events' }).click()
    await page.getByRole('heading', { name: 'Events' }).waitFor()
    await page.getByRole('link', { name: 'API keys' }).click()
    await stopped
    await page.getByRole('link', { name: 'checkout' }).waitFor()
    expect(await page.getByText('not reachable').count()).toBe(0)
  })
})
