import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../server/src/platform/clock.ts'
import { newFolder } from '../../server/test/command-line.ts'
import { apiOf, ok } from '../../server/test/loyalty.ts'
import { OPERATOR, startService, type TestService } from '../../server/test/service.ts'
import { describeInBrowser, openBrowser } from './browser.ts'
import { type HostileProject, openHostileProject } from './hostile-project.ts'
import { openPage } from './pages.ts'

const ENV = {
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
}

describeInBrowser('the search field', () => {
  let service: TestService
  let shop: HostileProject
  beforeAll(async () => {
    service = await startService({ ...ENV, JETON_DATA_DIR: newFolder('search') }, { clock: systemClock })
    shop = await openHostileProject(service)
  })
  afterAll(async () => {
    await shop?.receiver.close()
    await service.stop()
  })

  test('everything that can be pasted is found: ids, names, tokens, cards, emails and addresses', async () => {
    const { projectId, customerId, eventId, deliveryId, destinationId, cardCode } = shop
    const key = await service.key(projectId, { name: 'till 7', permissions: ['api'] })
    const fields = { source_id: 'crm 17', name: 'Ada Nowak', email: 'ada@example.com' }
    const ada = await ok(apiOf(service.url, key)('POST', '/customers', fields))
    const token = (await service.issue(key)).body.access_token
    const refused = (await service.issue({ ...key, appToken: 'wrong' })).body.request_id
    const keyPage = `/api-keys/${key.id}`
    const places: readonly (readonly [text: string, option: RegExp, path: string])[] = [
      [refused, /^Refused: the secret is neither/, `/access?request=${refused}`],
      [key.id, /till 7/, keyPage],
      [key.appId, /till 7/, keyPage],
      ['till 7', /till 7/, keyPage],
      [token, /This token is active/, keyPage],
      [eventId, /Reward|event/i, `/events/${eventId}`],
      [deliveryId, /Delivery to/, `/events/${eventId}?delivery=${deliveryId}`],
      [destinationId, /Destination/, `/destinations/${destinationId}`],
      [customerId, /Customer/, `/customers/${customerId}`],
      [cardCode, /Customer/, `/customers/${customerId}`],
      ['Ada Nowak', /Ada Nowak/, `/customers/${ada.id}`],
      ['crm 17', /Ada Nowak/, `/customers/${ada.id}`],
      ['ada@example.com', /Ada Nowak/, `/customers/${ada.id}`],
      ['10.0.0.4', /may be used from 10\.0\.0\.4/, '/api-keys?address=10.0.0.4'],
      [OPERATOR.id, new RegExp(OPERATOR.id), '/sessions'],
    ]
    const { page } = await openBrowser(service.url, { expected: [/^404 GET/] })
    const urls: string[] = []
    page.on('request', (request) => urls.push(request.url()))
    await openPage(page, `/projects/${projectId}/settings`)
    for (const [text, option, path] of places) {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Anything' }).fill(text)
      await page.getByRole('dialog').getByRole('option', { name: option }).first().click()
      await expect.poll(() => decodeURIComponent(page.url()), { message: text }).toContain(path)
    }
    expect([...urls, page.url()].filter((url) => url.includes(token))).toEqual([])
  })

  test('text that nothing matches says so, and lists what can be found', async () => {
    const { page } = await openBrowser(service.url)
    await openPage(page, `/projects/${shop.projectId}/settings`)
    await page.keyboard.press('/')
    await page.getByRole('combobox', { name: 'Anything' }).fill('nobody at all')
    await page.getByText(/^Nothing was found\. Finds: request id, key, /).waitFor()
  })
})
