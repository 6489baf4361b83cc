import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../server/src/platform/clock.ts'
import { newFolder } from '../../server/test/command-line.ts'
import { OPERATOR, startService, type TestService } from '../../server/test/service.ts'
import { accessibilityFindings } from './accessibility.ts'
import { describeInBrowser, openBrowser } from './browser.ts'
import { openPage } from './pages.ts'

const MAX_STEPS = 80

/** Name of the element that has the focus, as a screen reader says it. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLElement
    const label = element.id && document.querySelector(`label[for="${CSS.escape(element.id)}"]`)?.textContent
    const labelledBy = element.getAttribute('aria-labelledby')
    const named = labelledBy && document.getElementById(labelledBy.split(' ')[0]!)?.textContent
    const own = element.closest('label')?.textContent ?? element.textContent
    return (element.getAttribute('aria-label') || label || named || own || '').trim()
  })

/** Presses Tab until the element with this name has the focus, and fails if its focus cannot be seen. */
async function tabTo(page: Page, name: string | RegExp, key = 'Tab'): Promise<void> {
  const passed: string[] = []
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    await page.keyboard.press(key)
    const found = await focused(page)
    passed.push(found)
    if (typeof name === 'string' ? found === name : name.test(found)) {
      expect(await isFocusVisible(page), `focus on ${found}`).toBe(true)
      return
    }
  }
  throw new Error(`Tab never reached ${name}, only ${passed.join(' | ')}`)
}

const isFocusVisible = (page: Page): Promise<boolean> =>
  page.evaluate(() => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(document.activeElement!)
    return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none'
  })

describeInBrowser('the keyboard alone', () => {
  let service: TestService
  let projectId: string
  beforeAll(async () => {
    service = await startService(
      { JETON_DATA_DIR: newFolder('keyboard') },
      { clock: systemClock, worker: false },
    )
    projectId = (await service.project('Shop')).id
  })
  afterAll(() => service.stop())

  test('signing in, creating a key and blocking it take no mouse, and the focus is always visible', async () => {
    const { page } = await openBrowser(service.url, {
      as: null,
      expected: [/^401 GET|^400 POST .*\/sessions$/],
    })
    await page.goto(`/console/projects/${projectId}/api-keys`)
    await page.getByLabel('Operator id').waitFor()
    expect(await focused(page)).toBe('Operator id')
    await page.keyboard.type(OPERATOR.id)
    await tabTo(page, 'Operator token')
    await page.keyboard.type(OPERATOR.token)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    await tabTo(page, 'New key')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    expect(await focused(page)).toBe('Name')
    await page.keyboard.type('by-keyboard')
    await tabTo(page, 'vouchers')
    await page.keyboard.press('Space')
    await tabTo(page, /^Add mine/)
    await page.keyboard.press('Enter')
    await tabTo(page, 'Create key')
    await page.keyboard.press('Enter')
    await page.getByText('Shown this once').waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    await tabTo(page, 'I have copied it')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await tabTo(page, 'by-keyboard')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'by-keyboard' }).waitFor()
    await tabTo(page, 'Block')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('Block')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    await tabTo(page, 'Block key')
    await page.keyboard.press('Enter')
    await page.getByText('Refused by 1 of 1 process').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Unblock' }).waitFor()
  })

  test('a slash opens the search, which finds a key by its app id and opens it with Enter', async () => {
    const { id, appId } = await service.key(projectId, { name: 'searched' })
    const { page } = await openBrowser(service.url)
    await openPage(page, `/projects/${projectId}/events`)
    await page.keyboard.press('/')
    await page.getByRole('combobox', { name: 'Anything' }).waitFor()
    await page.keyboard.type(appId)
    await page.getByRole('dialog').getByRole('option').first().waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/api-keys/${id}`)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Anything' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  test('the first Tab leads to the content, past the navigation', async () => {
    const { page } = await openBrowser(service.url)
    await openPage(page, `/projects/${projectId}/api-keys`)
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Skip to content')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.closest('main') !== null)).toBe(true)
  })
})
