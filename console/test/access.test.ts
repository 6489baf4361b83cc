import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../server/src/platform/clock.ts'
import { eachEngine } from '../../server/test/engines.ts'
import {
  byCookie,
  byPair,
  managerWith,
  newOperator,
  newSession,
  pairOf,
  signIn,
} from '../../server/test/operators.ts'
import { type Answer, OPERATOR, send, startService, type TestService } from '../../server/test/service.ts'
import { describeInBrowser, openBrowser } from './browser.ts'
import { openPage } from './pages.ts'

const ENV = { JETON_TRUSTED_PROXIES: '127.0.0.1', JETON_MANAGEMENT_ALLOW: '127.0.0.0/8' }
const ELSEWHERE = { 'x-forwarded-for': '10.9.9.9' }

/** The link beside each refusal, by the check that failed. Where only the client can change something, it explains the error. */
const FIXES: Readonly<Record<string, readonly [label: string, path: RegExp]>> = {
  management_address: ['Show setting', /\/system\?setting=JETON_MANAGEMENT_ALLOW$/],
  management_credential_missing: ['Read about it', /\/docs\/errors\/unauthorized$/],
  management_id_unknown: ['Open operators', /\/operators$/],
  management_token_wrong: ['Open operators', /\/operators$/],
  role_insufficient: ['Open operators', /\/operators$/],
  session_origin: ['Show setting', /\/system\?setting=JETON_TRUSTED_PROXIES$/],
  session_invalid: ['Open sessions', /\/sessions$/],
  login_code_wrong: ['Read about it', /\/docs\/errors\//],
  credential_missing: ['Read about it', /\/docs\/errors\//],
  app_id_unknown: ['Open API keys', /\/api-keys$/],
  key_deleted: ['Open API keys', /\/api-keys$/],
  secret_wrong: ['Rotate secret', /\/api-keys\/key_\w+\?change=secret$/],
  secret_replaced: ['Rotate secret', /\/api-keys\/key_\w+\?change=secret$/],
  key_blocked: ['Unblock key', /\/api-keys\/key_\w+$/],
  address_not_allowed: ['Allow 127.0.0.1', /\/api-keys\/key_\w+\?change=addresses&add=127\.0\.0\.1$/],
  key_limit: ['Change its limit', /\/api-keys\/key_\w+\?change=limit$/],
  bearer_missing: ['Read about it', /\/docs\/errors\/unauthorized$/],
  bearer_malformed: ['Read about it', /\/docs\/errors\/unauthorized$/],
  bearer_inactive: ['Open key', /\/api-keys\/key_\w+$/],
  bearer_address_not_allowed: ['Allow 10.9.9.9', /\/api-keys\/key_\w+\?change=addresses&add=10\.9\.9\.9$/],
  scope_insufficient: ['Allow customers', /\/api-keys\/key_\w+\?change=permissions&add=customers$/],
  gateway_path: ['Configure the proxy', /#proxies$/],
}

/** Causes every refusal once: the answers, by the check that fails. */
async function causeRefusals(service: TestService, projectId: string): Promise<Record<string, Answer>> {
  const { url, manage, issue } = service
  const newKey = (fields: object = {}) => service.key(projectId, { name: 'refused', ...fields })
  const key = await newKey({ permissions: ['vouchers'] })
  const change = async (verb: string, fields: object = {}) => {
    const changed = await newKey(fields)
    const { status, text } =
      verb === 'delete'
        ? await manage('DELETE', changed.path)
        : await manage('POST', `${changed.path}/${verb}`, {})
    expect(status, text).toBeLessThan(300)
    return changed
  }
  const limited = await newKey({ token_limit: 1 })
  await issue(limited)
  const local = await newKey({ ip_whitelist: ['127.0.0.1'] })
  const tokenOf = async (own: typeof key) => (await issue(own)).body.access_token as string
  const call = (token: string | undefined, headers: Record<string, string> = {}) => {
    const authorization: Record<string, string> =
      token === undefined ? {} : { authorization: `Bearer ${token}` }
    return send(`${url}/gateway/authorize`, {
      headers: { 'x-original-uri': '/v1/vouchers', ...authorization, ...headers },
    })
  }
  const revoked = await tokenOf(key)
  await service.form('/v1/oauth/revoke', { token: revoked }, key)
  const viewer = await newOperator(service, 'viewer')
  const cookie = await newSession(url, viewer)
  const [name = ''] = cookie.split('=')
  return {
    management_address: await managerWith(url, { ...pairOf(OPERATOR), ...ELSEWHERE })('GET', '/projects'),
    management_credential_missing: await managerWith(url, {})('GET', '/projects'),
    management_id_unknown: await byPair(url, { ...OPERATOR, id: 'nobody' })('GET', '/projects'),
    management_token_wrong: await byPair(url, { ...OPERATOR, token: 'wrong' })('GET', '/projects'),
    role_insufficient: await byPair(url, viewer)('POST', '/projects', { name: 'new' }),
    session_origin: await managerWith(url, { cookie })('GET', '/projects'),
    session_invalid: await byCookie(url, `${name}=jts_${'A'.repeat(49)}`)('GET', '/projects'),
    login_code_wrong: await signIn(url, { code: `jtl_${'A'.repeat(49)}` }),
    credential_missing: await service.form('/v1/oauth/token', {
      grant_type: 'client_credentials',
      scope: 'vouchers',
    }),
    app_id_unknown: await issue({ ...key, appId: '00000000-0000-4000-8000-000000000000' }),
    key_deleted: await issue(await change('delete')),
    secret_wrong: await issue({ ...key, appToken: 'wrong' }),
    secret_replaced: await issue(await change('regenerate')),
    key_blocked: await issue(await change('block')),
    address_not_allowed: await issue(await newKey({ ip_whitelist: ['192.0.2.1'] })),
    key_limit: await issue(limited),
    bearer_missing: await call(undefined),
    bearer_malformed: await call('jtn_x'),
    bearer_inactive: await call(revoked),
    bearer_address_not_allowed: await call(await tokenOf(local), ELSEWHERE),
    scope_insufficient: await call(await tokenOf(key), { 'x-original-uri': '/v1/customers' }),
    gateway_path: await call(await tokenOf(key), { 'x-original-uri': '/v1/a/../b' }),
  }
}

describeInBrowser('the page Access', () => {
  eachEngine((engine) => {
    let service: TestService
    let projectId: string
    beforeAll(async () => {
      service = await startService(
        { ...ENV, ...(await engine.settings()) },
        { clock: systemClock, worker: false },
      )
      projectId = (await service.project('Shop')).id
    })
    afterAll(() => service.stop())

    test('every refusal is explained by its request id: the failed check, how to fix it, and where', async () => {
      const refusals = await causeRefusals(service, projectId)
      const { page } = await openBrowser(service.url)
      for (const [step, { status, body, text }] of Object.entries(refusals)) {
        expect(status, `${step}: ${text}`).toBeGreaterThanOrEqual(400)
        const { body: refusal } = await service.manage('GET', `/refusals/${body.request_id}`)
        expect([step, refusal.step]).toEqual([step, step])
        await openPage(page, `/projects/${projectId}/access?request=${body.request_id}`)
        const failed = await page.locator('.steps .failed').allTextContents()
        expect([step, failed.length]).toEqual([step, 1])
        expect(failed[0]!.toLowerCase()).toContain(refusal.steps.at(-1).says.toLowerCase())
        await page.getByRole('heading', { name: 'Fix' }).waitFor()
        const [label, target] = FIXES[step]!
        const fix = page.locator('.verdict').getByRole('link', { name: label, exact: true })
        expect([step, await fix.getAttribute('href')]).toEqual([step, expect.stringMatching(target)])
        if (refusal.command)
          await page.locator('.code-block pre', { hasText: refusal.command }).first().waitFor()
      }
    })

    test('a check shows each step, the response and the fix, and a token is never part of an address', async () => {
      const key = await service.key(projectId, { name: 'checked', permissions: ['vouchers'] })
      const token = (await service.issue(key)).body.access_token
      const { page } = await openBrowser(service.url)
      const urls: string[] = []
      page.on('request', (request) => urls.push(request.url()))
      await openPage(page, `/projects/${projectId}/access`)
      await page.getByLabel('Credential').selectOption('token')
      await page.getByLabel('Access token').fill(token)
      await page.getByLabel('Path').fill('/v1/customers')
      await page.getByRole('button', { name: 'Check', exact: true }).click()
      const verdict = page.locator('.verdict')
      await verdict.getByText('refused').waitFor()
      await verdict
        .getByText('HTTP/1.1 403')
        .or(verdict.getByText(/\b403\b/))
        .first()
        .waitFor()
      await page.getByLabel('Path').fill('/v1/vouchers')
      await page.getByRole('button', { name: 'Check', exact: true }).click()
      await verdict.getByText('allowed', { exact: true }).waitFor()
      expect([page.url(), ...urls].filter((url) => url.includes(token))).toEqual([])
      await page.getByLabel('Credential').selectOption({ label: 'checked' })
      await page.getByLabel('Path').fill('/v1/customers')
      await page.getByRole('button', { name: 'Check', exact: true }).click()
      await verdict
        .getByText(/jeton key update .* --permissions vouchers,customers/)
        .first()
        .waitFor()
      await page.reload()
      await verdict
        .getByText(/jeton key update .* --permissions vouchers,customers/)
        .first()
        .waitFor()
    })

    test('a missing scope is fixed from its refusal: the key gets the permission, and the same call is allowed', async () => {
      const key = await service.key(projectId, { name: 'narrow', permissions: ['vouchers'] })
      const pair = { 'x-app-id': key.appId, 'x-app-token': key.appToken }
      const ask = () =>
        send(`${service.url}/gateway/authorize`, { headers: { ...pair, 'x-original-uri': '/v1/orders/7' } })
      expect((await ask()).status).toBe(403)
      const { page } = await openBrowser(service.url)
      await openPage(page, `/projects/${projectId}/access?of=${key.id}`)
      const row = page.getByRole('table', { name: 'Refusals' }).getByRole('row').nth(1)
      await row.getByText('/v1/orders/7', { exact: true }).waitFor()
      await row.getByRole('link', { name: /do not cover "orders"$/ }).click()
      await page.locator('.verdict dd', { hasText: /^orders$/ }).waitFor()
      await row.getByRole('link', { name: 'Allow orders' }).click()
      await expect
        .poll(() => page.getByRole('checkbox', { name: 'orders', exact: true }).isChecked())
        .toBe(true)
      await page.getByRole('button', { name: 'Save changes' }).click()
      await page.getByRole('dialog').getByText('Applied by 1 of 1 process').waitFor()
      expect((await ask()).status).toBe(200)
      await page.getByRole('button', { name: 'Close' }).click()
      await openPage(page, `/projects/${projectId}/access?of=${key.id}`)
      // The key covers the scope by now, so nothing is left to allow.
      await row.getByRole('link', { name: 'Open key' }).waitFor()
    })

    test('the limit of a key is set where its refusal leads, and its history names the operator', async () => {
      const key = await service.key(projectId, { name: 'limited', token_limit: 1 })
      await service.issue(key)
      const { body } = await service.issue(key)
      const { page } = await openBrowser(service.url, { as: await newOperator(service, 'editor') })
      await openPage(page, `/projects/${projectId}/access?request=${body.request_id}`)
      await page.getByText('The key had reached its own limit of active tokens').first().waitFor()
      await page.locator('.verdict').getByRole('link', { name: 'Change its limit' }).click()
      const field = page.getByLabel('Limit of active tokens')
      await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true)
      await page.keyboard.press('Control+a')
      await page.keyboard.type('2')
      await page.getByRole('button', { name: 'Save changes' }).click()
      await page.getByText('Applied by 1 of 1 process').waitFor()
      expect((await service.issue(key)).status).toBe(200)
      await page.getByRole('button', { name: 'Close' }).click()
      await page.getByRole('table', { name: 'History' }).getByRole('cell', { name: 'editor' }).waitFor()
      const history = await page.getByRole('table', { name: 'History' }).textContent()
      expect(history).not.toMatch(/op_|session/)
    })

    test('the search finds the reason of a refusal by its request id', async () => {
      const { body } = await service.issue({ appId: '00000000-0000-4000-8000-000000000001', appToken: 'x' })
      const { page } = await openBrowser(service.url)
      await openPage(page, `/projects/${projectId}/access`)
      await page.keyboard.press('/')
      await page.getByRole('combobox', { name: 'Anything' }).fill(body.request_id)
      await page.getByRole('option', { name: /no API key has this app id/ }).click()
      await page.locator('.steps .failed').waitFor()
      expect(page.url()).toContain(body.request_id)
    })
  })
})
