import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../server/src/platform/clock.ts'
import { eachEngine } from '../../server/test/engines.ts'
import { bySession, type Credential, newOperator } from '../../server/test/operators.ts'
import { startService, type TestService } from '../../server/test/service.ts'
import { describeInBrowser, openBrowser } from './browser.ts'
import { type HostileProject, openHostileProject } from './hostile-project.ts'
import { openPage, PAGES } from './pages.ts'

const ENV = {
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
}
/** Names of buttons that change something. */
const CHANGES =
  /\b(block|unblock|create|new|add|delete|remove|revoke|rotate|enable|disable|retry|recover|replay|send|save|edit|change|limit|rename)\b/i

/** The names of all buttons of the page that could change something. */
const changingButtons = async (page: Page): Promise<string[]> => {
  const buttons = await page.locator('main').getByRole('button').all()
  const names = await Promise.all(
    buttons.map(async (each) => (await each.getAttribute('aria-label')) ?? (await each.textContent()) ?? ''),
  )
  return names.map((name) => name.trim()).filter((name) => CHANGES.test(name))
}

describeInBrowser('a viewer', () => {
  eachEngine((engine) => {
    let service: TestService
    let hostile: HostileProject
    let viewer: Credential
    beforeAll(async () => {
      service = await startService({ ...ENV, ...(await engine.settings()) }, { clock: systemClock })
      hostile = await openHostileProject(service)
      viewer = await newOperator(service, 'viewer', [hostile.projectId])
    })
    afterAll(async () => {
      await hostile?.receiver.close()
      await service.stop()
    })

    test('a viewer opens every page of the project without a refusal and sees no action that would be refused', async () => {
      const { page } = await openBrowser(service.url, { as: viewer })
      for (const [name, path] of Object.entries(PAGES)) {
        if (['System', 'Operators'].includes(name)) continue
        await openPage(page, path(hostile))
        expect([name, await changingButtons(page)]).toEqual([name, []])
      }
      const links = await page.getByRole('navigation', { name: 'Main' }).getByRole('link').allTextContents()
      expect(links.filter((text) => /System|Operators/.test(text))).toEqual([])
    })

    test('an editor of the same project sees these actions, so that they are missing for a reason', async () => {
      const { page } = await openBrowser(service.url, {
        as: await newOperator(service, 'editor', [hostile.projectId]),
      })
      for (const name of ['API key', 'Event', 'Destination']) {
        await openPage(page, PAGES[name]!(hostile))
        expect([name, (await changingButtons(page)).length > 0]).toEqual([name, true])
      }
    })

    test('the API refuses a viewer every change that the console would make', async () => {
      const { projectId, keyId, destinationId, eventId, deliveryId } = hostile
      const asViewer = await bySession(service.url, viewer)
      const path = `/projects/${projectId}`
      const changes: [string, string, object?][] = [
        ['POST', `${path}/api-keys`, { name: 'new' }],
        ['POST', `${path}/api-keys/${keyId}/block`],
        ['POST', `${path}/api-keys/${keyId}/regenerate`],
        ['POST', `${path}/api-keys/${keyId}/revoke-tokens`],
        ['DELETE', `${path}/api-keys/${keyId}`],
        [
          'POST',
          `${path}/webhooks`,
          { target_url: hostile.receiver.url, events: ['customer.reward_redemptions.completed'] },
        ],
        ['POST', `${path}/webhooks/${destinationId}/disable`],
        ['POST', `${path}/webhooks/${destinationId}/rotate-secret`, {}],
        ['POST', `${path}/webhooks/${destinationId}/test`],
        ['POST', `${path}/deliveries/${deliveryId}/retry`],
        ['POST', `${path}/deliveries/recover`, {}],
        ['POST', `${path}/events/${eventId}/replay`],
        ['PATCH', path, { name: 'renamed' }],
        ['DELETE', path, { name: 'x' }],
        ['POST', '/projects', { name: 'new' }],
        ['POST', '/operators', { name: 'new' }],
      ]
      for (const [method, target, body] of changes) {
        const { status, body: error } = await asViewer(method, target, body)
        expect([method, target, status, error.key]).toEqual([method, target, 403, 'insufficient_role'])
      }
    })
  })
})
