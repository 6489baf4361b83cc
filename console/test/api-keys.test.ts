import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { makeHome, type Running, serveBinary } from '../../server/test/binary.ts'
import { eachEngine } from '../../server/test/engines.ts'
import { type Client, clientOf, OPERATOR, type Pair } from '../../server/test/service.ts'
import { describeInBrowser, openBrowser } from './browser.ts'
import { openPage } from './pages.ts'

const WORKERS = 2

/** Asks again and again until a token is refused. */
function keepIntrospecting(client: Client, { caller, token }: { caller: Pair; token: string }) {
  const answers: boolean[] = []
  let isOver = false
  const ended = (async () => {
    while (!isOver) answers.push((await client.introspect(caller, token)).body.active)
  })()
  return {
    answers,
    stop() {
      isOver = true
      return ended
    },
  }
}

describeInBrowser('API keys', () => {
  eachEngine((engine) => {
    let running: Running & { url: string }
    let client: Client
    let projectId: string
    const home = makeHome()
    beforeAll(async () => {
      const store = await engine.freshStore()
      const operator = { JETON_MANAGEMENT_ID: OPERATOR.id, JETON_MANAGEMENT_TOKEN: OPERATOR.token }
      const env = { ...store.env, ...operator, JETON_SAMPLE: 'off', JETON_WORKERS: String(WORKERS) }
      running = await serveBinary({ home: home.folder, env })
      client = clientOf(running.url)
      projectId = (await client.project('Shop')).id
    })
    afterAll(async () => {
      await running?.stop()
      home.remove()
    })

    const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
    const everywhere = (page: Page) =>
      page.evaluate(() =>
        JSON.stringify([
          document.documentElement.outerHTML,
          { ...localStorage },
          { ...sessionStorage },
          location.href,
          history.state,
        ]),
      )

    test('a key is created with a name, a permission and an address, and its secret gets tokens and is then gone', async () => {
      const { page } = await openBrowser(running.url)
      await openPage(page, `/projects/${projectId}/api-keys`)
      await button(page, 'New key').first().click()
      await page.getByLabel('Name', { exact: true }).fill('checkout')
      await button(page, 'Create key').click()
      await page.getByText('Choose at least one permission.').waitFor()
      await page.getByRole('checkbox', { name: 'vouchers', exact: true }).check()
      await button(page, /^Add mine/).click()
      await button(page, 'Create key').click()
      const panel = page.getByRole('dialog')
      await panel.getByText('Shown this once').waitFor()
      const [appId, appToken] = await panel.locator('.code-block pre').allTextContents()
      const pair = { appId: appId!, appToken: appToken! }
      const issued = await client.issue(pair, 'vouchers')
      expect(issued.status, issued.text).toBe(200)
      expect((await client.issue(pair, 'customers')).status).toBe(400)
      await page.keyboard.press('Escape')
      expect(await everywhere(page)).toContain(appToken)
      await button(page, 'I have copied it').click()
      await panel.waitFor({ state: 'detached' })
      expect(await everywhere(page)).not.toContain(appToken)
      await page.getByRole('link', { name: 'checkout' }).click()
      await page.getByRole('heading', { name: 'checkout' }).waitFor()
      expect(await everywhere(page)).not.toContain(appToken)
      const [key] = (await client.manage('GET', `/projects/${projectId}/api-keys?app_id=${appId}`)).body.data
      expect(key).toMatchObject({ name: 'checkout', permissions: ['vouchers'], ip_whitelist: ['127.0.0.1'] })
    })

    test('blocking a key says what stops and then names each process that refuses it, while a script introspects', async () => {
      const [worker, caller] = [
        await client.key(projectId, { name: 'worker' }),
        await client.key(projectId, { name: 'caller' }),
      ]
      const token = (await client.issue(worker)).body.access_token
      const { page } = await openBrowser(running.url)
      await openPage(page, `/projects/${projectId}/api-keys/${worker.id}`)
      const script = keepIntrospecting(client, { caller, token })
      onTestFinished(script.stop)
      await expect.poll(() => script.answers.length).toBeGreaterThan(5)
      await button(page, 'Block').click()
      await page.getByText('1 active token will stop working for good').waitFor()
      await page.getByLabel('Reason, for the audit log').fill('leaked')
      expect(script.answers).not.toContain(false)
      await button(page, 'Block key').click()
      await page.getByText(`Refused by ${WORKERS} of ${WORKERS} processes after`).waitFor()
      const refusedFrom = script.answers.length
      const lines = await page.getByRole('dialog').getByRole('listitem').allTextContents()
      expect(lines).toHaveLength(WORKERS)
      expect(new Set(lines.map((line) => /pid (\d+): [\d.]+ s$/.exec(line)?.[1])).size).toBe(WORKERS)
      await expect.poll(() => script.answers.length).toBeGreaterThan(refusedFrom + 5)
      await script.stop()
      // The answer that was in progress when the receipt came may still be the old one.
      expect(script.answers.slice(refusedFrom + 1)).not.toContain(true)
      await button(page, 'Close').click()
      await button(page, 'Unblock').waitFor()
      const audit = await client.manage('GET', `/projects/${projectId}/audit-log?subject=${worker.id}`)
      expect(audit.body.data[0]).toMatchObject({ action: 'api_key.blocked', via: 'session' })
      expect(audit.text).toContain('leaked')
    })

    test('a rotated secret is shown once, and the page says that the old one still works', async () => {
      const key = await client.key(projectId, { name: 'rotated' })
      const { page } = await openBrowser(running.url)
      await openPage(page, `/projects/${projectId}/api-keys/${key.id}`)
      await button(page, 'Rotate secret').click()
      await button(page, 'Create new secret').click()
      const panel = page.getByRole('dialog')
      await panel.getByText('Shown this once').waitFor()
      const appToken = (await panel.locator('.code-block pre').first().textContent())!
      for (const secret of [appToken, key.appToken])
        expect((await client.issue({ ...key, appToken: secret })).status).toBe(200)
      await button(page, 'I have copied it').click()
      await panel.waitFor({ state: 'detached' })
      expect(await everywhere(page)).not.toContain(appToken)
      await page
        .getByText(/old secret/i)
        .first()
        .waitFor()
    })
  })
})
