import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { eachEngine } from '../../server/test/engines.ts'
import { apiOf, ok } from '../../server/test/loyalty.ts'
import { type Receiver, startReceiver } from '../../server/test/receiver.ts'
import { redemptionData } from '../../server/test/reported-redemption.ts'
import { startTimedService, type TimedService } from '../../server/test/timed-service.ts'
import { describeInBrowser, openBrowser } from './browser.ts'
import { openPage } from './pages.ts'

const ENV = {
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
}
const DAY = 86_400_000

describeInBrowser('deliveries', () => {
  eachEngine((engine) => {
    let service: TimedService
    let receiver: Receiver
    let projects = 0
    beforeAll(async () => {
      service = await startTimedService(engine, { env: ENV })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      receiver = await startReceiver()
    })
    afterEach(() => receiver.close())

    /** A project whose events go to the receiver. */
    async function openProject() {
      const { id: projectId } = await service.project(`Shop ${++projects}`)
      const call = apiOf(service.url, await service.key(projectId))
      const path = `/projects/${projectId}`
      const fields = { target_url: receiver.url, events: ['customer.reward_redemptions.completed'] }
      const webhook = (await service.manage('POST', `${path}/webhooks`, fields)).body
      let reports = 0
      return {
        projectId,
        webhook: webhook as { id: string; secret: string },
        async happen(times = 1): Promise<void> {
          for (let i = 0; i < times; i++)
            await ok(
              call('POST', '/redemptions/rewards', { source_id: `r-${++reports}`, data: redemptionData() }),
            )
        },
        count: async (query: string): Promise<number> =>
          (await service.manage('GET', `${path}/deliveries?${query}`)).body.total,
        health: async () => (await service.manage('GET', `${path}/webhooks/${webhook.id}`)).body,
      }
    }

    /** Moves the time until the condition holds. */
    const until = (condition: () => Promise<boolean>) =>
      expect
        .poll(async () => {
          await service.advance(500)
          return condition()
        })
        .toBe(true)

    /** A browser whose clock is that of the service. */
    async function open(path: string): Promise<Page> {
      const { page, context } = await openBrowser(service.url)
      await context.clock.install({ time: service.clock.now() })
      await openPage(page, path)
      return page
    }

    test('a receiver that fails for days is disabled, 50 events are held, and one click sends exactly these 50', async () => {
      const { projectId, webhook, happen, count, health } = await openProject()
      receiver.answer = () => ({ status: 500 })
      await happen()
      await until(async () => (await count('state=failing')) === 1)
      await service.jump(6 * DAY)
      await happen()
      await until(async () => !(await health()).active)
      // The two that failed are exhausted by now, or are held with the others.
      const heldBefore = await count('status=held')
      await happen(50 - heldBefore)
      await until(async () => (await count('status=held')) === 50)
      const before = receiver.received.length
      receiver.answer = () => ({})
      const page = await open(`/projects/${projectId}/overview`)
      await page.getByText('destination disabled').waitFor()
      await page.getByRole('button', { name: 'Enable and send 50' }).click()
      await page.getByText('50 held deliveries will be sent now').waitFor()
      expect(receiver.received.length).toBe(before)
      await page.getByRole('dialog').getByRole('button', { name: 'Enable and send 50' }).click()
      await page.getByText('50 deliveries are due now').waitFor()
      await until(async () => (await count('status=delivered')) === 50)
      const ids = receiver.received.slice(before).map(({ headers }) => headers['webhook-id'])
      expect([ids.length, new Set(ids).size]).toEqual([50, 50])
      await page.getByRole('button', { name: 'Close' }).click()
      await page.goto(`/console/projects/${projectId}/destinations/${webhook.id}`)
      await page.getByText('healthy').waitFor()
    })

    test('a recovery shows by a dry run what it would send, changes nothing until then, and reports its result', async () => {
      const { projectId, happen, count } = await openProject()
      receiver.answer = () => ({ status: 503, body: 'down for maintenance' })
      await happen(3)
      await until(async () => (await count('state=failing')) === 3)
      const tried = receiver.received.length
      receiver.answer = () => ({})
      const page = await open(`/projects/${projectId}/deliveries?state=failing`)
      await page.getByRole('button', { name: 'Select the 3 that failed on this page' }).waitFor()
      await page.getByRole('button', { name: 'Recover…' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('0 deliveries').waitFor()
      await dialog.getByLabel('Which').selectOption('failing')
      await dialog.getByText('3 deliveries').first().waitFor()
      await dialog.getByText('503').first().waitFor()
      expect([receiver.received.length, await count('state=failing')]).toEqual([tried, 3])
      await dialog.getByRole('button', { name: 'Send 3 deliveries again' }).click()
      await until(async () => (await count('status=delivered')) === 3)
      await dialog.getByText('3 delivered, 0 failed again').waitFor()
      expect(receiver.received.length).toBe(tried + 3)
    })

    test('destinations of one host differ by name or path, and each shows its last error', async () => {
      const { projectId, happen, count } = await openProject()
      const add = (fields: object) =>
        service.manage('POST', `/projects/${projectId}/webhooks`, {
          events: ['customer.reward_redemptions.completed'],
          ...fields,
        })
      await add({ target_url: `${receiver.url}/second` })
      await add({ target_url: `${receiver.url}/second`, name: 'CRM' })
      receiver.answer = () => ({ status: 503 })
      await happen()
      await until(async () => (await count('state=failing')) === 3)
      const page = await open(`/projects/${projectId}/destinations`)
      const target = receiver.url.replace('http://', '')
      const names = [target, `${target}/second`, 'CRM']
      for (const name of names) await page.getByRole('link', { name, exact: true }).first().waitFor()
      expect(await page.getByText('answered 503').count()).toBe(3)
      await page.goto(`/console/projects/${projectId}/deliveries`)
      const choices = page.getByLabel('Destination').getByRole('option')
      await expect.poll(() => choices.count()).toBe(4)
      expect(new Set(await choices.allTextContents()).size).toBe(4)
      for (const name of names) await page.getByRole('link', { name, exact: true }).first().waitFor()
    })

    test('the page of an event shows each attempt, the next one, and sends it again at once', async () => {
      const { projectId, happen, count } = await openProject()
      receiver.answer = () => ({ status: 502, body: 'bad gateway of the shop' })
      await happen()
      await until(async () => (await count('state=failing')) === 1)
      receiver.answer = () => ({ status: 200, body: 'thanks' })
      const page = await open(`/projects/${projectId}/events`)
      await page.getByRole('link', { name: 'Reward redeemed' }).click()
      await page.getByText(/^attempt 1, \d+ ms/).waitFor()
      await page.getByText(/attempt 2 in \d+ s/).waitFor()
      await page.getByRole('button', { name: 'Retry now' }).click()
      await until(async () => (await count('status=delivered')) === 1)
      await page.getByText(/^attempt 2, \d+ ms/).waitFor()
      expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toHaveLength(2)
    })

    test('a new destination is checked, its secret is shown once, and a test shows request and answer', async () => {
      const { projectId } = await openProject()
      receiver.answer = () => ({ status: 201, body: 'hello from the receiver' })
      const page = await open(`/projects/${projectId}/destinations/new`)
      await page.getByLabel('URL').fill(receiver.url)
      await page.getByText(/connects/i).waitFor()
      await page.getByRole('button', { name: 'Create and show the secret' }).click()
      const panel = page.getByRole('dialog')
      const secret = (await panel.locator('.code-block pre').first().textContent())!
      expect(secret).toMatch(/^whsec_/)
      await panel.getByRole('button', { name: 'I have copied it' }).click()
      await page.getByRole('button', { name: 'Send a test' }).click()
      let isSent = false
      void receiver.receivedAtLeast(1).then(() => (isSent = true))
      await until(async () => isSent)
      await until(() => page.getByText('hello from the receiver').isVisible())
      const shown = await page.evaluate(() =>
        JSON.stringify([document.documentElement.outerHTML, { ...localStorage }]),
      )
      expect(shown).not.toContain(secret)
    })
  })
})
