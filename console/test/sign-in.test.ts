import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eachEngine } from '../../server/test/engines.ts'
import { byCookie, byPair, type Credential, newOperator, newSession } from '../../server/test/operators.ts'
import { OPERATOR } from '../../server/test/service.ts'
import { startTimedService, type TimedService } from '../../server/test/timed-service.ts'
import { describeInBrowser, openBrowser } from './browser.ts'

/** Without a session, reads are refused, and an attempt without a credential shows whether browsers may sign in here. */
const SIGNED_OUT = /^401 GET \/management\/v1\/|^400 POST \/management\/v1\/sessions$/
const REFUSED = /^401 POST \/management\/v1\/sessions$/

/** Records the address of the page at each of its requests, and the requests themselves. */
async function recordRequests(page: Page) {
  const sent: { url: string; method: string; body: string; shownUrl: string }[] = []
  await page.exposeFunction('__shownUrl', (shownUrl: string) => void shown.push(shownUrl))
  const shown: string[] = []
  await page.addInitScript(() => {
    const send = window.fetch
    window.fetch = (...request) => {
      void (window as unknown as { __shownUrl: (url: string) => void }).__shownUrl(location.href)
      return send(...request)
    }
  })
  page.on('request', (request) => {
    if (request.isNavigationRequest()) return
    const referrer = request.headers().referer ?? ''
    sent.push({
      url: request.url(),
      method: request.method(),
      body: request.postData() ?? '',
      shownUrl: referrer,
    })
  })
  return { sent, shown }
}

describeInBrowser('signing in', () => {
  eachEngine((engine) => {
    let service: TimedService
    let viewer: Credential
    beforeAll(async () => {
      service = await startTimedService(engine, { worker: false })
      await service.project('Shop')
      viewer = await newOperator(service, 'viewer')
    })
    afterAll(() => service.stop())

    const newLink = async (operator: Credential = OPERATOR): Promise<{ url: string; code: string }> =>
      (await byPair(service.url, operator)('POST', '/login-codes')).body
    const navigation = (page: Page) => page.getByRole('navigation', { name: 'Main' })
    const nameOf = async (page: Page) =>
      (await page.getByRole('button', { name: /^Account of/ }).getAttribute('aria-label'))?.slice(
        'Account of '.length,
      )

    test('an operator signs in by the form and signs out, and no script can read the token or the cookie', async () => {
      const expected = [SIGNED_OUT, REFUSED]
      const { page, context } = await openBrowser(service.url, { as: null, expected })
      await page.goto('/console/')
      await page.getByLabel('Operator id').fill(OPERATOR.id)
      await page.getByLabel('Operator token').fill('wrong')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('alert').waitFor()
      await page.getByLabel('Operator token').fill(OPERATOR.token)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await navigation(page).waitFor()
      expect(await page.content()).not.toContain(OPERATOR.token)
      const [cookie] = await context.cookies()
      const name = `jeton_session_${new URL(service.url).port}`
      expect(cookie).toMatchObject({ name, httpOnly: true, sameSite: 'Strict', path: '/', expires: -1 })
      const readable = await page.evaluate(() =>
        JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }]),
      )
      for (const secret of [OPERATOR.token, cookie!.value]) expect(readable).not.toContain(secret)
      await page.getByRole('button', { name: /^Account of/ }).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
      await page.getByLabel('Operator id').waitFor()
      expect(await context.cookies()).toEqual([])
      expect((await byCookie(service.url, `${name}=${cookie!.value}`)('GET', '/whoami')).status).toBe(401)
    })

    test('a link signs in only after a question, its code leaves the address before any request and works once', async () => {
      const { url, code } = await newLink()
      const { page } = await openBrowser(service.url, { as: null, expected: [SIGNED_OUT] })
      const { sent, shown } = await recordRequests(page)
      await page.goto(url)
      await page.getByRole('heading', { name: 'Sign in with this link?' }).waitFor()
      expect(sent.filter(({ method }) => method === 'POST')).toEqual([])
      await page.getByRole('button', { name: 'Continue' }).click()
      await navigation(page).waitFor()
      expect(await nameOf(page)).toBe(OPERATOR.id)
      expect(shown.length).toBeGreaterThan(0)
      expect([page.url(), ...shown].filter((address) => address.includes(code))).toEqual([])
      expect(sent.filter(({ url, shownUrl }) => url.includes(code) || shownUrl.includes(code))).toEqual([])
      expect(
        sent.filter(({ body }) => body.includes(code)).map(({ method, url }) => `${method} ${url}`),
      ).toEqual([`POST ${service.url}/management/v1/sessions`])
      const later = await openBrowser(service.url, { as: null, expected: [SIGNED_OUT, REFUSED] })
      await later.page.goto(url)
      await later.page.getByRole('button', { name: 'Continue' }).click()
      await later.page.getByRole('alert').waitFor()
      expect(await later.context.cookies()).toEqual([])
    })

    test('where somebody is signed in, a link replaces the session only if the operator agrees', async () => {
      const { page, context } = await openBrowser(service.url, {
        as: viewer,
        expected: [/^401 GET .*\/whoami$/],
      })
      const before = (await context.cookies())[0]!
      await page.goto((await newLink()).url)
      await page.getByRole('heading', { name: 'Replace your session?' }).waitFor()
      await page.getByRole('button', { name: 'Stay viewer' }).click()
      await navigation(page).waitFor()
      expect(await nameOf(page)).toBe('viewer')
      expect((await context.cookies())[0]!.value).toBe(before.value)
      // The tab already shows the console, so only the fragment changes.
      await page.evaluate((link) => location.assign(link), (await newLink()).url)
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('button', { name: `Account of ${OPERATOR.id}` }).waitFor()
      const old = byCookie(service.url, `${before.name}=${before.value}`)
      expect((await old('GET', '/whoami')).status).toBe(401)
    })

    test('a session that ends elsewhere shows the sign-in form at the same address, and then the page again', async () => {
      const operator = await newOperator(service, 'editor')
      const { page, context } = await openBrowser(service.url, { as: operator, expected: [SIGNED_OUT] })
      await page.goto('/console/')
      await page.getByRole('link', { name: 'Events' }).click()
      await page.getByRole('heading', { name: 'Events' }).waitFor()
      const session = (await context.cookies())[0]!
      await byCookie(service.url, `${session.name}=${session.value}`)('DELETE', '/sessions/current')
      // The page reads its list again every few seconds.
      await page.getByLabel('Operator id').waitFor()
      const [, cookie = ''] = (await newSession(service.url, operator)).split('=')
      await context.addCookies([{ ...session, value: cookie }])
      await page.reload()
      await navigation(page).waitFor()
      await page.getByRole('heading', { name: 'Events' }).waitFor()
    })
  })
})
