import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../server/src/platform/clock.ts'
import { newFolder } from '../../server/test/command-line.ts'
import { startService, type TestService } from '../../server/test/service.ts'
import { accessibilityFindings, turnedText, widerThanWindow } from './accessibility.ts'
import { describeInBrowser, openBrowser } from './browser.ts'
import { TURNED } from './hostile-project.ts'
import { openPage } from './pages.ts'

describeInBrowser('the checks of these tests', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService(
      { JETON_DATA_DIR: newFolder('browser') },
      { clock: systemClock, worker: false },
    )
  })
  afterAll(() => service.stop())

  test('a failed script, a violated policy, a refused request and another origin are found in every test', async () => {
    const { page, faults } = await openBrowser(service.url)
    await openPage(page, '/system')
    await page.evaluate(async () => {
      const script = Object.assign(document.createElement('script'), { textContent: 'window.__ran = 1' })
      document.body.append(script)
      document.body.insertAdjacentHTML('beforeend', '<b style="color: red" onclick="1">x</b>')
      await fetch('http://127.0.0.1:9/').catch(() => undefined)
      await fetch('/management/v1/nowhere')
      // biome-ignore lint/suspicious/noConsole: the error that must be found
      console.error('said')
      setTimeout(() => {
        throw new Error('thrown')
      })
    })
    const expected = [
      /policy violated: script-src/,
      /policy violated: style-src/,
      /policy violated: connect-src/,
    ]
    expected.push(/40\d GET \/management\/v1\/nowhere/, /console: said/, /uncaught: .*thrown/)
    for (const each of expected)
      await expect.poll(() => faults.found).toContainEqual(expect.stringMatching(each))
    expect(await page.evaluate(() => '__ran' in window)).toBe(false)
    faults.found.length = 0
  })

  test('text without contrast, text that turns its surroundings and wide elements are found', async () => {
    const { page, faults } = await openBrowser(service.url)
    await openPage(page, '/system')
    expect([await accessibilityFindings(page), await widerThanWindow(page), await turnedText(page)]).toEqual([
      [],
      [],
      [],
    ])
    await page.evaluate((text) => {
      const main = document.querySelector('main')!
      const faint = Object.assign(document.createElement('p'), { textContent: 'Faint' })
      faint.style.setProperty('color', '#ddd')
      faint.style.setProperty('width', '3000px')
      const name = Object.assign(document.createElement('b'), { textContent: text })
      main.append(faint, Object.assign(document.createElement('p'), { textContent: 'Name ' }))
      main.lastElementChild!.append(name)
    }, TURNED)
    expect(await accessibilityFindings(page)).toContainEqual(expect.stringContaining('color-contrast'))
    expect((await widerThanWindow(page)).length).toBeGreaterThan(0)
    expect(await turnedText(page)).toHaveLength(1)
    faults.found.length = 0
  })
})
